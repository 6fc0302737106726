import { type Gatherer, newGatherer } from "../../../base/gather.ts";
import type { DialectTransaction } from "../dialect.ts";
import type { Gather, Prepared, SharedStatements } from "../session.ts";

/** How many items a shared statement has. */
const maxItems = 500;

/** A write needs a transaction of its own, because it locks tables. */
export class NeedsOwnTransaction extends Error {}

/** The transaction of a batch. */
export interface BatchTransaction {
  readonly tx: DialectTransaction;
  /** Resolves once the transaction has begun. Statements that change rows must wait for it. */
  readonly begun: Promise<void>;
}

/** One write of a batch. */
export interface WriteMember {
  /** The transaction of the batch, as this write uses it. */
  readonly tx: DialectTransaction;
  /** Whether it has sent a statement that may change rows. */
  hasWritten(): boolean;
  /** Rejects all further statements: the transaction may go on without this write, or end. */
  end(): void;
}

/** Creates the shared statements of a batch. */
export function newSharedStatements({ tx, begun }: BatchTransaction): SharedStatements {
  const gatherers = new Map<string, Gatherer<unknown, unknown>>();
  const sent: Promise<void>[] = [];
  let isOver = false;

  function gather<K, V>(name: string, items: readonly K[], run: (items: readonly K[]) => Promise<V>): Promise<V> {
    let gatherer = gatherers.get(name) as Gatherer<K, V> | undefined;
    if (!gatherer) {
      // All writes go on after the same response, so the calls that can come do so without further I/O.
      gatherer = newGatherer((all: ReadonlySet<K>) => run([...all]), { maxKeys: maxItems, isEager: true });
      gatherers.set(name, gatherer as Gatherer<unknown, unknown>);
    }
    return gatherer(items);
  }

  return {
    gather: {
      read: (name, items, run) => gather(name, items, (all) => run(tx, all)),
      write: (name, items, run) =>
        gather(name, items, async (all) => {
          await begun;
          if (isOver) throw new Error(`${name}: the batch has ended`);
          const statement = run(tx, all);
          // Awaited at the end of the batch.
          statement.catch(() => {});
          sent.push(statement);
        }),
    },
    sent,
    end() {
      isOver = true;
    },
  };
}

/** Creates a member of the batch. Members that run at the same time have the same `gather`. */
export function newMember({ tx, begun }: BatchTransaction, gather?: Gather): WriteMember {
  let hasWritten = false;
  let isOver = false;

  function requireOpen(statement: string): void {
    if (isOver) throw new Error(`${statement}: the write has ended`);
  }

  return {
    tx: {
      ...tx,
      prepared(key, build) {
        requireOpen(key);
        const statement = tx.prepared(key, build);
        if (!statement.isWrite) return statement;
        hasWritten = true;
        return executedAfter(begun, statement);
      },
      ...(gather && {
        gather: {
          async read(name, items, run) {
            requireOpen(name);
            return await gather.read(name, items, run);
          },
          async write(name, items, run) {
            requireOpen(name);
            hasWritten = true;
            await gather.write(name, items, run);
          },
        },
      }),
      lockTables: () => Promise.reject(new NeedsOwnTransaction()),
    },
    hasWritten: () => hasWritten,
    end() {
      isOver = true;
    },
  };
}

function executedAfter<T>(begun: Promise<void>, statement: Prepared<T>): Prepared<T> {
  return {
    ...statement,
    async execute(values) {
      await begun;
      return await statement.execute(values);
    },
  };
}
