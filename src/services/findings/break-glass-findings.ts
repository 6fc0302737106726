// Roles that people took by break-glass, and that no other person has acknowledged.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import type { Call } from "../../pipeline/call.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { accessRequestCollection } from "../../storage/iam/requests/collections.ts";
import { unacknowledged } from "../../storage/iam/requests/queries.ts";
import { identityShower } from "../access/shown-identities.ts";
import { showRequests } from "../iam/access-requests/messages.ts";
import { type FindingParts, type FindingSource, scanOfRows } from "./finding-kind.ts";

/** Break-glass requests that nobody has acknowledged, also those that have ended. */
export const unacknowledgedBreakGlass: FindingSource = {
  kind: FindingKind.BREAK_GLASS_UNACKNOWLEDGED,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  startScan: scanOfRows(
    () => ({
      kind: accessRequestCollection.kind,
      table: ({ accessRequests }) => accessRequests,
      uid: ({ accessRequests }) => accessRequests.uid,
      condition: unacknowledged,
    }),
    show,
  ),
};

async function show(session: Session, uids: readonly string[], call: Call): Promise<FindingParts[]> {
  const rows = await findRows(session, accessRequestCollection, uids);
  const requesters = rows.map(({ identityUid }) => identityUid);
  // All of them are in one organization.
  const identityOf = await identityShower(session, requesters, rows[0]?.parent ?? "", call);
  const requests = await showRequests(session, rows, call);
  return rows.map(({ uid, parent, identityUid, startTime }, i) => ({
    resourceUid: uid,
    groupUid: parent,
    time: toTimestamp(startTime!),
    identity: identityOf(identityUid),
    details: { case: "accessRequest", value: requests[i]! },
  }));
}
