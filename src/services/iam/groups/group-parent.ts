// The parent of a new group, which need not be written out: the published contract takes short forms of a group there.
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
 * The uid of the group that a parent names: by its uid, by an end of that (whole segments), or by its name; empty stays empty.
 * Short forms stand for groups that the caller may list, so that nothing is learnt of others, in organizations that the caller has
 * accepted; a short form of none of these, or
 * of several, is INVALID_ARGUMENT.
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
    second === undefined
      ? newGroupParentRule.description
      : "several groups have this name or uids that end so: give the uid",
  );
}
