// What one node at a time does for all of them. The clocks of the nodes may differ by less than a lease lasts; where they differ by
// more, two nodes may hold it at once, and what is done under it has to bear that. A clock that was far ahead, and was put right, keeps
// nobody waiting until then: a lease that ends later than any clock that is right would have it is nobody's.

import type { Session, Transaction } from "../engine/session.ts";
import { compareAndSetSetting, getOrSetSetting, readSetting } from "../engine/settings.ts";

/** Who holds a lease, and until when (milliseconds since the epoch). */
interface Held {
  readonly holder: string;
  readonly until: number;
}

/** Nobody's. */
const free = JSON.stringify({ holder: "", until: 0 } satisfies Held);

/** What may be held. */
export interface Lease {
  readonly name: string;
  /** How long it is taken for, in milliseconds. */
  readonly length: number;
}

/** Whether this node could have the lease, or has it. Costs a read. */
export async function isLeaseFree(session: Session, lease: Lease, holder: string, now: number): Promise<boolean> {
  return isFreeFor(await readSetting(session, lease.name), lease, holder, now);
}

/** Takes a lease, or prolongs it, and answers until when; undefined when another node holds it. */
export async function takeLease(tx: Transaction, lease: Lease, holder: string): Promise<number | undefined> {
  const { time } = tx.context;
  const known = await getOrSetSetting(tx, lease.name, free);
  if (!isFreeFor(known, lease, holder, time)) return undefined;
  const until = time + lease.length;
  const isTaken = await compareAndSetSetting(tx, lease.name, known, JSON.stringify({ holder, until } satisfies Held));
  return isTaken ? until : undefined;
}

/** Gives the lease back, so that another node need not wait for its end; nothing when it is not held. */
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
