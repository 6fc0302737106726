import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { ancestorsOf } from "../../model/uid.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import { findRolesIn } from "../../storage/iam/roles-of-group.ts";
import type { RoleRow } from "../../storage/iam/rows.ts";
import type { KindName } from "./spec.ts";

/** Returns the roles of the ancestors of a group that the caller may list, the nearest first; none if roles are not wanted. */
export async function readOuterRoles(
  session: Session,
  baseUid: string,
  wanted: ReadonlySet<KindName>,
  { call, limit }: { readonly call: Call; readonly limit: number },
): Promise<readonly RoleRow[]> {
  if (!wanted.has("role")) return [];
  const access = accessOf(call);
  const visible = ancestorsOf(baseUid).filter((uid) => access.has(Capability.CAP_IAM_ROLES_LIST, uid));
  const found: RoleRow[] = [];
  for (const uid of visible.reverse()) found.push(...(await findRolesIn(session, uid, limit)));
  return found;
}
