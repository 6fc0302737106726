// Role bindings that give less than their place says.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection, roleBindingCollection, roleCollection } from "../../storage/iam/collections.ts";
import { confinedBindings as confined } from "../../storage/iam/confined-bindings.ts";
import { showBinding } from "../access/shown-binding.ts";
import { identityShower } from "../access/shown-identities.ts";
import { type FindingParts, type FindingSource, scanOfRows } from "./finding-kind.ts";

/** Role bindings of identities of a subgroup, at a group outside of it. */
export const confinedBindings: FindingSource = {
  kind: FindingKind.CONFINED_BINDING,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  startScan: scanOfRows(
    () => ({
      kind: roleBindingCollection.kind,
      table: ({ roleBindings }) => roleBindings,
      uid: ({ roleBindings }) => roleBindings.uid,
      condition: confined,
    }),
    show,
  ),
};

async function show(session: Session, uids: readonly string[], call: Call): Promise<FindingParts[]> {
  const rows = await findRows(session, roleBindingCollection, uids);
  const groups = await namesOf(
    session,
    groupCollection,
    rows.map(({ parent }) => parent),
  );
  const roles = await namesOf(
    session,
    roleCollection,
    rows.map(({ roleUid }) => roleUid),
  );
  const holders = rows.map(({ identityUid }) => identityUid);
  // All of them are in one organization.
  const identityOf = await identityShower(session, holders, rows[0]?.parent ?? "", call);
  return rows.map(({ uid, parent, identityUid, roleUid, createTime, startTime, expireTime }) => {
    const names = { groupName: groups.get(parent) ?? "", roleName: roles.get(roleUid) ?? "" };
    const value = showBinding({ uid, groupUid: parent, roleUid, startTime, expireTime, ...names }, call, false);
    return {
      resourceUid: uid,
      groupUid: parent,
      time: toTimestamp(createTime),
      identity: identityOf(identityUid),
      details: { case: "roleBinding", value },
    };
  });
}

/** Returns the names of resources by their uids. */
async function namesOf<R extends ResourceRow & { readonly name: string }>(
  session: Session,
  collection: Collection<R>,
  uids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await findRows(session, collection, [...new Set(uids)])).map(({ uid, name }) => [uid, name]));
}
