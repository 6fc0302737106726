import { operatorRole } from "../authz/built-in-roles.ts";
import { rootOf } from "../model/uid.ts";
import type { Session } from "../storage/engine/session.ts";
import { findBindingsOf } from "../storage/iam/role-bindings.ts";

/** How many bindings of the operator role are read. */
const maxBindings = 100;

/** Returns the uids of the operators' organizations, whose audit logs have what happens to the whole installation. */
export async function organizationsOfOperators(session: Session): Promise<ReadonlySet<string>> {
  const bindings = await findBindingsOf(session, "roleUid", operatorRole.uid, maxBindings);
  return new Set(bindings.map(({ parent }) => rootOf(parent)));
}
