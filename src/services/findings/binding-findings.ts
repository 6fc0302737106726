// Role bindings that give less than their place says, and those that nobody uses.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { dayMs } from "../../base/clock.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { accessRecording } from "../../storage/iam/access-usage.ts";
import { groupCollection, roleBindingCollection, roleCollection } from "../../storage/iam/collections.ts";
import { confinedBindings as confined } from "../../storage/iam/confined-bindings.ts";
import { removableSince } from "../../storage/iam/unused-bindings.ts";
import type { Scan } from "../../storage/list/scan.ts";
import { showBinding } from "../access/shown-binding.ts";
import { identityShower } from "../access/shown-identities.ts";
import { unusedDays } from "../access/unused-access.ts";
import { type FindingParts, type FindingSource, nothingToScan, scanOfRows } from "./finding-kind.ts";

const allBindings: Omit<Scan, "condition"> = {
  kind: roleBindingCollection.kind,
  table: ({ roleBindings }) => roleBindings,
  uid: ({ roleBindings }) => roleBindings.uid,
};

/** Role bindings of identities of a subgroup, at a group outside of it. */
export const confinedBindings: FindingSource = {
  kind: FindingKind.CONFINED_BINDING,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  startScan: scanOfRows(() => ({ ...allBindings, condition: confined }), show),
};

/** How many role bindings are compared with the uses of their holders: it takes longer than to look at a row. */
const maxCompared = 10_000;

const scanUnused = scanOfRows(
  (now) => ({ ...allBindings, condition: removableSince(now - unusedDays.usual * dayMs) }),
  show,
  maxCompared,
);

/** Role bindings whose removal the list of unused access advises. */
export const unusedBindings: FindingSource = {
  kind: FindingKind.UNUSED_BINDING,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  async startScan(session, subtrees, now, call) {
    const recorded = await accessRecording.since(session);
    const isObserved = recorded !== undefined && recorded <= now - unusedDays.usual * dayMs;
    return isObserved ? await scanUnused(session, subtrees, now, call) : nothingToScan;
  },
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
