// Collects what all clients saw, by key, and says which of it no order of the writes explains.
import { findViolation, type Interval, type Operation, observation, type State } from "./linearizability.ts";
import { shownPart } from "./operations.ts";

interface Key {
  readonly scope: string;
  readonly bornAt: number;
  /** Set once the key is deleted and no write can bring it back. */
  closedAt: number;
  readonly operations: Operation[];
}

/** Returns the time of the test in milliseconds; no fault changes it. */
export const now = (): number => performance.now();

/** How long after its deletion a key is kept, in milliseconds: longer than any call takes. */
const keptMs = 60_000;

/** The history of all keys. */
export class History {
  readonly #keys = new Map<string, Key>();
  readonly #reports: string[] = [];
  #operations = 0;

  /** Declares a key before its first operation. Lists of the scope show it. */
  open(name: string, scope: string): void {
    if (this.#keys.has(name)) return;
    this.#keys.set(name, { scope, bornAt: now(), closedAt: Number.POSITIVE_INFINITY, operations: [] });
  }

  /** Adds an operation on a key. */
  add(name: string, operation: Operation): void {
    this.#keys.get(name)?.operations.push(operation);
    this.#operations++;
  }

  /** Declares that a key was deleted and that no running write creates it. */
  close(name: string): void {
    const key = this.#keys.get(name);
    if (key) key.closedAt = Math.min(key.closedAt, now());
  }

  /** Adds a list of a scope: it shows what it contains, and that every other key of the scope is absent. */
  addList(scope: string, label: string, { calledAt, returnedAt }: Interval, rows: ReadonlyMap<string, State>): void {
    for (const name of rows.keys())
      if (this.#keys.get(name)?.scope !== scope) this.complain(`${label} contains ${name}, which was never created`);
    for (const [name, key] of this.#keys) {
      const isPossible = key.bornAt < returnedAt && key.closedAt > calledAt;
      if (key.scope === scope && (isPossible || rows.has(name))) {
        const shown = rows.get(name) ?? "";
        this.add(
          name,
          observation(
            `${label}, ${JSON.stringify(shown)}`,
            { calledAt, returnedAt },
            (state) => shownPart(state) === shown,
          ),
        );
      } else if (key.closedAt < calledAt - keptMs) {
        this.#reports.push(...reportOf(name, key.operations));
        this.#keys.delete(name);
      }
    }
  }

  /** Adds a violation that needs no search. */
  complain(complaint: string): void {
    this.#reports.push(complaint);
  }

  /** Returns the number of operations and observations. */
  get size(): number {
    return this.#operations;
  }

  /** Returns a report of each violation. */
  check(): string[] {
    return [...this.#reports, ...[...this.#keys].flatMap(([name, { operations }]) => reportOf(name, operations))];
  }
}

function reportOf(name: string, operations: readonly Operation[]): string[] {
  const violation = findViolation(operations);
  if (!violation) return [];
  const { operation, states } = violation;
  const lines = [
    `${name}: no order of the writes explains: ${lineOf(operation)}`,
    `  it may have been: ${states.map((state) => JSON.stringify(state)).join(" or ")}`,
    ...around(operations, operation).map((each) => `  ${lineOf(each)}`),
  ];
  return [lines.join("\n")];
}

/** Returns the operations that a reader of the report needs: all writes, and the last reads before the violation. */
function around(operations: readonly Operation[], violation: Operation): Operation[] {
  const before = operations.filter(({ calledAt }) => calledAt <= violation.returnedAt);
  const lastReads = new Set(before.filter(({ isRead }) => isRead).slice(-8));
  return before.filter((each) => !each.isRead || lastReads.has(each)).sort((a, b) => a.calledAt - b.calledAt);
}

function lineOf({ label, calledAt, returnedAt }: Operation): string {
  return `[${calledAt.toFixed(1)}, ${returnedAt === Number.POSITIVE_INFINITY ? "?" : returnedAt.toFixed(1)}] ${label}`;
}
