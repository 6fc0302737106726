// Resolves the parent of a new group, for which the published contract accepts short forms.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { invalidField } from "../../../aip/errors.ts";
import { isUid, uidEndPattern } from "../../../model/uid.ts";
import { accessOf, callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { nameRule, newGroupParentRule, problemOf } from "../../../pipeline/text-rules.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findGroupsEnding, findGroupsNamed } from "../../../storage/iam/group-names.ts";
import { knownAmong } from "../users/membership.ts";

/**
 * Returns the uid of the named parent. The name is a uid, the last segments of a uid, or the name of a group; empty stays empty. A
 * short form matches only groups that the caller may list, in organizations that the caller has accepted. Throws INVALID_ARGUMENT
 * unless exactly one group matches.
 */
export async function resolveParent(session: Session, parent: string, call: Call): Promise<string> {
  if (parent === "" || isUid(parent)) return parent;
  const access = accessOf(call);
  const { uid: callerUid } = callerOf(call);
  const isKnown = await knownAmong(session, [callerUid]);
  const found = new Set<string>();
  if (uidEndPattern.test(parent)) {
    for (const { uid } of await findGroupsEnding(session, parent)) {
      if (access.has(Capability.CAP_IAM_GROUPS_LIST, uid) && isKnown(callerUid, uid)) found.add(uid);
    }
  }
  if (problemOf(nameRule, parent) === undefined) {
    const visible = access.scope([Capability.CAP_IAM_GROUPS_LIST]).filter((uid) => isKnown(callerUid, uid));
    for (const { uid } of await findGroupsNamed(session, parent, visible)) found.add(uid);
  }
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  throw invalidField(
    "parent",
    second === undefined ? newGroupParentRule.description : "matches several groups; give the uid",
  );
}
