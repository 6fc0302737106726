import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  type AccessRequestSchema,
  AccessRequestState,
} from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { groupCollection, identityCollection, roleCollection } from "../../../storage/iam/collections.ts";
import { accessRequestRuleCollection } from "../../../storage/iam/requests/collections.ts";
import type { AccessRequestRow } from "../../../storage/iam/requests/rows.ts";
import { lookup } from "../role-bindings/hydration.ts";
import { isReadable } from "../rules/readable.ts";
import { knownAmong } from "../users/membership.ts";

/** An access request as responses have it. */
export type ShownRequest = MessageInitShape<typeof AccessRequestSchema>;

/** Converts a stored request to its message, without what other rows say. Not for sessions: who is behind a token is not shown. */
export function requestMessage(row: AccessRequestRow) {
  const { uid, ruleUid, identityUid, parent: groupUid, roleUid, reason, roleBindingUid, startTime, expireTime } = row;
  return {
    uid,
    ruleUid,
    identityUid,
    groupUid,
    roleUid,
    duration: durationFromMs(row.duration),
    reason,
    state: AccessRequestState[row.state],
    decisions: row.decisions.map(({ approverUid, isApproval: approved, comment, time, counts }) => ({
      approverUid,
      approved,
      comment,
      decideTime: toTimestamp(time),
      counts,
    })),
    createTime: toTimestamp(row.createTime),
    decideBeforeTime: toTimestamp(row.decideBeforeTime),
    ...(startTime !== null && { startTime: toTimestamp(startTime) }),
    ...(expireTime !== null && { expireTime: toTimestamp(expireTime) }),
    roleBindingUid: roleBindingUid ?? "",
    breakGlass: row.breakGlass,
    ...(row.acknowledgeTime !== null && { acknowledgement: acknowledgementOf(row, row.acknowledgeTime) }),
  };
}

function acknowledgementOf({ acknowledgerUid, acknowledgeComment }: AccessRequestRow, time: number) {
  return {
    identityUid: acknowledgerUid ?? "",
    comment: acknowledgeComment ?? "",
    acknowledgeTime: toTimestamp(time),
  };
}

/** Shows requests that the caller may see, with the names of what they are about. */
export async function showRequests(
  session: Session,
  rows: readonly AccessRequestRow[],
  call: Call,
): Promise<ShownRequest[]> {
  const [identities, groups] = [lookup(session, identityCollection), lookup(session, groupCollection)];
  const [roles, rules] = [lookup(session, roleCollection), lookup(session, accessRequestRuleCollection)];
  const isKnownTo = await knownAmong(
    session,
    rows.map(({ identityUid }) => identityUid),
  );
  const shown: ShownRequest[] = [];
  for (const row of rows) {
    const { identityUid, parent } = row;
    const isShown = isReadable(row, call) && (identityUid === call.caller?.uid || isKnownTo(identityUid, parent));
    const rule = await rules(row.ruleUid);
    shown.push({
      ...requestMessage(row),
      ...(rule && { requiredApprovals: rule.requiredApprovals }),
      identityName: (isShown && (await identities(identityUid))?.name) || "",
      groupName: (await groups(parent))?.name ?? "",
      roleName: (await roles(row.roleUid))?.name ?? "",
    });
  }
  return shown;
}
