// A lease: lets one node at a time run a task. If node clocks differ by more than the lease length, two nodes may hold
// it, so tasks must tolerate that. A lease that ends implausibly late (set by a wrong clock) is ignored.

import type { Session, Transaction } from "../engine/session.ts";
import { compareAndSetSetting, getOrSetSetting, readSetting } from "../engine/settings.ts";

/** The holder of a lease, and its end in milliseconds since the epoch. */
interface Held {
  readonly holder: string;
  readonly until: number;
}

/** The value of a lease without a holder. */
const free = JSON.stringify({ holder: "", until: 0 } satisfies Held);

/** A lease. */
export interface Lease {
  readonly name: string;
  /** Its length in milliseconds. */
  readonly length: number;
}

/** Returns whether this node holds the lease or could take it. Costs one read. */
export async function isLeaseFree(session: Session, lease: Lease, holder: string, now: number): Promise<boolean> {
  return isFreeFor(await readSetting(session, lease.name), lease, holder, now);
}

/** Takes or renews a lease. Returns its end, or undefined if another node holds it. */
export async function takeLease(tx: Transaction, lease: Lease, holder: string): Promise<number | undefined> {
  const { time } = tx.context;
  const known = await getOrSetSetting(tx, lease.name, free);
  if (!isFreeFor(known, lease, holder, time)) return undefined;
  const until = time + lease.length;
  const isTaken = await compareAndSetSetting(tx, lease.name, known, JSON.stringify({ holder, until } satisfies Held));
  return isTaken ? until : undefined;
}

/** Releases the lease: another node need not wait for its end. Does nothing if this node does not hold it. */
export async function releaseLease(tx: Transaction, { name }: Lease, holder: string): Promise<void> {
  const known = await readSetting(tx, name);
  if (known !== undefined && (JSON.parse(known) as Held).holder === holder)
    await compareAndSetSetting(tx, name, known, free);
}

function isFreeFor(known: string | undefined, { length }: Lease, holder: string, now: number): boolean {
  if (known === undefined) return true;
  const held = JSON.parse(known) as Held;
  return held.holder === holder || held.until <= now || held.until > now + 2 * length;
}
