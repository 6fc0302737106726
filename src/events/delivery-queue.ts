// Delivers what waits for one subscription, in its order: what follows waits until what is first has arrived, or is given up.
import type { Database } from "../storage/database.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import {
  advanceQueue,
  delayQueue,
  findNextDelivery,
  finishDelivery,
  type NextDelivery,
} from "../storage/events/delivery-queues.ts";
import { type Attempt, type SenderOptions, sendEvent } from "./sender.ts";

/** Times are milliseconds. */
const bounds = {
  /** Deliveries to one subscription before others have their turn, and how long they may take. */
  inARow: 50,
  turn: 10_000,
  /** After the first failure; after each further one twice as long. */
  firstPause: 1_000,
  longestPause: 60 * 60 * 1000,
  /** How long after it happened an event is still tried. */
  patience: 3 * 24 * 60 * 60 * 1000,
} as const;

/** How much the pauses differ, so that those who failed together do not stay so. */
const spread = { least: 0.75, most: 1.25 } as const;

/** No queue waits longer than this for its next attempt, in milliseconds. */
export const longestWait = bounds.longestPause * spread.most;

/** A sink is slow as long as its last attempt has lasted longer, in milliseconds, whatever came of it. */
export const longestQuick = 2_000;

/** What became of deliveries. */
export type Outcome = Attempt["outcome"] | "given_up";

/** What delivering rests on. */
export interface DeliveryContext {
  readonly database: Database;
  readonly sender: SenderOptions;
  /** Why a subscription receives no events: its maker may no longer subscribe. Undefined when it receives them. */
  readonly inactivityOf: (subscriptionUid: string) => Promise<string | undefined>;
  /** Who writes; made anew each time, since it has the time. */
  readonly context: () => WriteContext;
  /** Told of each attempt, and of what is given up. */
  readonly observe: (outcome: Outcome, delivery: NextDelivery, reason: string) => void;
}

/** Delivers until nothing is left, something fails or lasts long, or `mayGoOn` says no. */
export async function serveQueue(
  deps: DeliveryContext,
  subscriptionUid: string,
  mayGoOn: () => boolean,
): Promise<void> {
  const end = performance.now() + bounds.turn;
  for (let i = 0; i < bounds.inARow && performance.now() < end && mayGoOn(); i++) {
    const next = await findNextDelivery(deps.database.session, subscriptionUid);
    if (!next) return await deps.database.write(deps.context(), (tx) => advanceQueue(tx, subscriptionUid));
    if (!(await serve(deps, next))) return;
  }
}

/** Whether the delivery is done with, and what follows may be tried at once. */
async function serve(deps: DeliveryContext, next: NextDelivery): Promise<boolean> {
  const { database, sender, context, observe } = deps;
  const begin = context().time;
  const attempt = await attemptOf(deps, next);
  const now = context();
  // Not negative, where the clock has gone back meanwhile.
  const lastDuration = Math.max(0, now.time - begin);
  const finish = async () => {
    await database.write(now, (tx) => finishDelivery(tx, next, lastDuration));
    return lastDuration <= longestQuick;
  };
  if (attempt.outcome === "delivered") {
    observe(attempt.outcome, next, "");
    return await finish();
  }
  // Whether it has arrived nobody knows: whoever delivers next tries again.
  if (sender.outbound.signal?.aborted) return false;
  const { outcome, reason, code } = attempt;
  const said = code === undefined ? reason : `${reason} (${code})`;
  observe(outcome, next, said);
  if (now.time - next.time > bounds.patience) {
    observe("given_up", next, said);
    return await finish();
  }
  const attempts = next.attempts + 1;
  const nextTime = now.time + pauseAfter(attempts);
  const state = { attempts, lastFailure: reason, lastDuration, nextTime };
  await database.write(now, (tx) => delayQueue(tx, next.subscriptionUid, state));
  return false;
}

/** Sends it, unless the maker of the subscription may no longer subscribe. */
async function attemptOf({ sender, inactivityOf }: DeliveryContext, next: NextDelivery): Promise<Attempt> {
  const inactivity = await inactivityOf(next.subscriptionUid);
  if (inactivity === undefined) return await sendEvent(next, next, sender);
  return { outcome: "refused", reason: `the subscription is not in force: ${inactivity}` };
}

/** How long to wait after so many failures, in milliseconds. */
function pauseAfter(attempts: number): number {
  const pause = Math.min(bounds.firstPause * 2 ** (attempts - 1), bounds.longestPause);
  return Math.round(pause * (spread.least + Math.random() * (spread.most - spread.least)));
}
