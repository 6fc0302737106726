import { rootOf } from "../model/uid.ts";
import { callerOf, scopeOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import type { Session } from "../storage/engine/session.ts";
import { findMembershipsOf } from "../storage/iam/memberships.ts";
import type { PlaceFilter } from "./selection.ts";

/**
 * Returns the subtrees in which a filter by name looks. Anyone can bind a role to a user, so organizations that the user has not
 * accepted are left out, unless the place filter names them (docs/design/access.md).
 */
export async function namedScope(session: Session, call: Call, place: PlaceFilter | undefined) {
  const { uid } = callerOf(call);
  const scope = scopeOf(call);
  if (uid.includes("/")) return scope;
  const named = place ? [place.descendantsOf, place.childrenOf, place.ancestorsOf, ...place.ids] : [];
  const roots = new Set(named.filter((text) => text !== "").map(rootOf));
  for (const { groupUid } of await findMembershipsOf(session, [uid])) roots.add(groupUid);
  return scope.filter((one) => roots.has(rootOf(one)));
}
