// Delivers what waits for one subscription, in its order: what follows waits until what is first has arrived, or is given up.
import { readChanges } from "../storage/changes.ts";
import type { Database } from "../storage/database.ts";
import { findNextDelivery, finishDelivery, type NextDelivery, setQueue } from "../storage/event-queues.ts";
import type { WriteContext } from "../storage/session.ts";
import { type Change, type Changes, cloudEventOf } from "./cloud-event.ts";
import { type Attempt, type SenderOptions, sendEvent } from "./event-sender.ts";
import { type FindDefinition, isSameCall } from "./fan-out.ts";

/** Times are milliseconds. */
const bounds = {
  /** Deliveries to one subscription before others have their turn. */
  inARow: 50,
  /** After the first failure; after each further one twice as long. */
  firstPause: 1_000,
  longestPause: 60 * 60 * 1000,
  /** How long after it happened an event is still tried. */
  patience: 3 * 24 * 60 * 60 * 1000,
  /** Changes that one event can be about: more than a batch may have. */
  changes: 1_000,
} as const;

/** What became of deliveries. */
export type Outcome = Attempt["outcome"] | "given_up";

/** What delivering rests on. */
export interface QueueDeps {
  readonly database: Database;
  readonly find: FindDefinition;
  readonly sender: SenderOptions;
  /** Who writes; made anew each time, since it has the time. */
  readonly context: () => WriteContext;
  /** Told of each attempt, and of what is given up. */
  readonly observe: (outcome: Outcome, delivery: NextDelivery, reason: string) => void;
}

/** Delivers until nothing is left, something fails, or `mayGoOn` says no. */
export async function serveQueue(deps: QueueDeps, subscriptionUid: string, mayGoOn: () => boolean): Promise<void> {
  for (let i = 0; i < bounds.inARow && mayGoOn(); i++) {
    const next = await findNextDelivery(deps.database.session, subscriptionUid);
    if (!next || !(await serve(deps, next))) return;
  }
}

/** Whether the delivery is done with. */
async function serve(deps: QueueDeps, next: NextDelivery): Promise<boolean> {
  const changes = await changesOf(deps, next.sequence);
  // Changes are kept as long as the operator says: what is gone cannot be told.
  if (!changes) return await giveUp(deps, next, "the change log no longer has it");
  const attempt = await tryOnce(deps, next, changes);
  const reason = attempt.outcome === "delivered" ? "" : attempt.reason;
  deps.observe(attempt.outcome, next, reason);
  if (attempt.outcome === "delivered") return await finish(deps, next);
  const context = deps.context();
  if (context.time - changes[0].time > bounds.patience) return await giveUp(deps, next, reason);
  const attempts = next.attempts + 1;
  const nextTime = context.time + pauseAfter(attempts);
  await deps.database.write(context, (tx) => setQueue(tx, next.subscriptionUid, { attempts, nextTime }));
  return false;
}

async function tryOnce({ database, find, sender }: QueueDeps, next: NextDelivery, changes: Changes): Promise<Attempt> {
  const definition = find(changes[0].method);
  if (!definition) throw new Error(`${changes[0].method} causes no event`);
  const event = await cloudEventOf(definition, changes, database.session, sender.issuer);
  return await sendEvent(event, next, sender);
}

/** The changes that a delivery tells of; undefined when the log has them no more. */
async function changesOf({ database, find }: QueueDeps, sequence: number): Promise<Changes | undefined> {
  const [first] = await readChanges(database.session, sequence - 1, 1);
  if (first?.sequence !== sequence) return undefined;
  if (!find(first.method)?.isBatch) return [first];
  const following = await readChanges(database.session, sequence, bounds.changes);
  const end = following.findIndex((change) => !isSameCall(change, first));
  const others = (end < 0 ? following : following.slice(0, end)).filter(({ kind }: Change) => kind === first.kind);
  return [first, ...others];
}

async function giveUp(deps: QueueDeps, next: NextDelivery, reason: string): Promise<boolean> {
  deps.observe("given_up", next, reason);
  return await finish(deps, next);
}

async function finish({ database, context }: QueueDeps, next: NextDelivery): Promise<boolean> {
  await database.write(context(), (tx) => finishDelivery(tx, next));
  return true;
}

/** How long to wait after so many failures, in milliseconds; some more or less, so that those who failed together do not stay so. */
function pauseAfter(attempts: number): number {
  const pause = Math.min(bounds.firstPause * 2 ** (attempts - 1), bounds.longestPause);
  return Math.round(pause * (0.75 + Math.random() / 2));
}
