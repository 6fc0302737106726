import { failedPrecondition } from "../../aip/errors.ts";
import { readCounter } from "../../storage/engine/counters.ts";
import type { Session } from "../../storage/engine/session.ts";
import { roleBindingCollection } from "../../storage/iam/collections.ts";

/** How many role bindings one call looks through: it reads all of a subtree, about a microsecond each. */
const maxBindings = 100_000;

/** Throws TOO_MANY_ROLE_BINDINGS if a group has more role bindings than one list looks through. */
export async function requireFewBindings(session: Session, groupUid: string): Promise<void> {
  if ((await readCounter(session, groupUid, roleBindingCollection.kind)) <= maxBindings) return;
  const rule = `this list looks through at most ${maxBindings} role bindings; name a smaller group`;
  throw failedPrecondition("TOO_MANY_ROLE_BINDINGS", rule, groupUid);
}
