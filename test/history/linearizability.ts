// Decides whether the operations on one key can be put in an order in which each takes effect at one instant between its
// call and its return (linearizability). The search is Lowe's just-in-time linearization, a variant of Wing and Gong's.

/** The content of a key; "" if the key is absent. */
export type State = string;

/** The time between sending a request and receiving its response. */
export interface Interval {
  readonly calledAt: number;
  readonly returnedAt: number;
}

/** One operation on a key, as its client saw it. */
export interface Operation {
  /** The client's request and its result, for reports. */
  readonly label: string;
  /** Milliseconds on the clock of the test. */
  readonly calledAt: number;
  /** `Infinity` for a write whose result the client never learned: it may take effect at any time, or never. */
  readonly returnedAt: number;
  readonly isRead: boolean;
  /** Returns the state after the operation, or undefined if it cannot have had its result in this state. */
  readonly apply: (state: State) => State | undefined;
}

/** Creates a read that is right in the states that match. */
export function observation(label: string, interval: Interval, matches: (state: State) => boolean): Operation {
  return { label, ...interval, isRead: true, apply: (state) => (matches(state) ? state : undefined) };
}

/** The first operation that no order explains. */
export interface Violation {
  readonly operation: Operation;
  /** The states that the key may have had when the operation returned. */
  readonly states: readonly State[];
}

/** A possible history so far: the state of the key, and which running operations have taken effect. */
interface Candidate {
  readonly state: State;
  readonly done: ReadonlySet<Operation>;
}

/** The number of candidates at which the search gives up. Keys with many writes of unknown result would reach it. */
const maxCandidates = 100_000;

/** Returns the first operation that cannot be explained, or undefined if the whole history is linearizable. */
export function findViolation(operations: readonly Operation[]): Violation | undefined {
  const running = new Set<Operation>();
  let candidates: readonly Candidate[] = [{ state: "", done: new Set() }];
  for (const { operation, isReturn } of eventsOf(operations)) {
    if (!isReturn) {
      running.add(operation);
      candidates = candidates.map((candidate) => withReads(candidate, [operation]));
      continue;
    }
    const next = extend(candidates, operation, running);
    if (next.length === 0) return { operation, states: [...new Set(candidates.map(({ state }) => state))] };
    running.delete(operation);
    candidates = next;
  }
  return undefined;
}

interface Event {
  readonly operation: Operation;
  readonly at: number;
  readonly isReturn: boolean;
}

/** Returns the calls and returns in their order. At the same time, calls come first: operations that touch may overlap. */
function eventsOf(operations: readonly Operation[]): Event[] {
  const events = operations.flatMap((operation): Event[] => [
    { operation, at: operation.calledAt, isReturn: false },
    { operation, at: operation.returnedAt, isReturn: true },
  ]);
  return events
    .filter(({ at }) => at !== Number.POSITIVE_INFINITY)
    .sort((a, b) => a.at - b.at || Number(a.isReturn) - Number(b.isReturn));
}

/** Returns the candidates in which the operation has taken effect, after any sequence of other running writes. */
function extend(
  candidates: readonly Candidate[],
  operation: Operation,
  running: ReadonlySet<Operation>,
): readonly Candidate[] {
  const names = new Map([...running].map((each, index) => [each, index] as const));
  const seen = new Map<string, Candidate>();
  const found = new Map<string, Candidate>();
  const queue = [...candidates];
  for (let candidate = queue.pop(); candidate; candidate = queue.pop()) {
    const key = keyOf(candidate, names);
    if (seen.has(key)) continue;
    seen.set(key, candidate);
    if (seen.size > maxCandidates) throw new Error(`too many possible histories of one key, at: ${operation.label}`);
    if (candidate.done.has(operation)) {
      const done = new Set(candidate.done);
      done.delete(operation);
      found.set(keyOf({ ...candidate, done }, names), { ...candidate, done });
      continue;
    }
    queue.push(...successors(candidate, operation, running));
  }
  return [...found.values()];
}

function successors(candidate: Candidate, operation: Operation, running: ReadonlySet<Operation>): Candidate[] {
  const result: Candidate[] = [];
  for (const write of running) {
    if (write.isRead || candidate.done.has(write)) continue;
    const state = write.apply(candidate.state);
    // A write of unknown result that would change nothing need not take effect.
    if (state === undefined || (state === candidate.state && write !== operation)) continue;
    result.push(withReads({ state, done: new Set([...candidate.done, write]) }, running));
  }
  return result;
}

/** Lets the reads take effect that can: a read changes nothing, so it does not rule out any other order. */
function withReads(candidate: Candidate, running: Iterable<Operation>): Candidate {
  let done: Set<Operation> | undefined;
  for (const read of running) {
    if (!read.isRead || candidate.done.has(read) || read.apply(candidate.state) === undefined) continue;
    done ??= new Set(candidate.done);
    done.add(read);
  }
  return done ? { ...candidate, done } : candidate;
}

function keyOf({ state, done }: Candidate, names: ReadonlyMap<Operation, number>): string {
  const members = [...done].map((operation) => names.get(operation)).sort((a, b) => a! - b!);
  return `${members.join()} ${state}`;
}
