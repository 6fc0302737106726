// What one node at a time does for all of them. The clocks of the nodes may differ by less than a lease lasts; where they differ by
// more, two nodes may hold it at once, and what is done under it has to bear that.

import type { Session, Transaction } from "./session.ts";
import { changeSetting, readSetting, settleSetting } from "./settings.ts";

/** Who holds a lease, and until when (milliseconds since the epoch). */
interface Held {
  readonly holder: string;
  readonly until: number;
}

/** Nobody's. */
const free = JSON.stringify({ holder: "", until: 0 } satisfies Held);

/** Whether this node could have the lease, or has it. Costs a read. */
export async function isLeaseFree(session: Session, name: string, holder: string, now: number): Promise<boolean> {
  return isFreeFor(await readSetting(session, name), holder, now);
}

/** Takes the lease of this name, or prolongs it; false when another node holds it. */
export async function takeLease(tx: Transaction, name: string, holder: string, until: number): Promise<boolean> {
  const known = await settleSetting(tx, name, free);
  if (!isFreeFor(known, holder, tx.context.time)) return false;
  return await changeSetting(tx, name, known, JSON.stringify({ holder, until } satisfies Held));
}

/** Gives the lease back, so that another node need not wait for its end; nothing when it is not held. */
export async function releaseLease(tx: Transaction, name: string, holder: string): Promise<void> {
  const known = await readSetting(tx, name);
  if (known !== undefined && (JSON.parse(known) as Held).holder === holder) await changeSetting(tx, name, known, free);
}

function isFreeFor(known: string | undefined, holder: string, now: number): boolean {
  if (known === undefined) return true;
  const held = JSON.parse(known) as Held;
  return held.holder === holder || held.until <= now;
}
