// Identities that nobody uses, and identities whose keys expire soon.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { RelationshipType } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { fromTimestamp, toTimestamp } from "../../aip/timestamps.ts";
import { dayMs } from "../../base/clock.ts";
import { parentOf } from "../../model/uid.ts";
import { findRows } from "../../storage/collection/rows.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import { type IdentityFilter, identityCondition } from "../../storage/iam/identity-search.ts";
import type { IdentityRow } from "../../storage/iam/rows.ts";
import type { Scan } from "../../storage/list/scan.ts";
import { maxStaticKeysAge, staticKeysExpiry } from "../../sts/static-keys-expiry.ts";
import { fromColumns } from "../iam/identities/relationships.ts";
import { type FindingParts, type FindingSource, scanOfRows } from "./finding-kind.ts";

/** The time before the end of keys from which they are findings, in milliseconds. */
const expiresSoonMs = 14 * dayMs;

/** The age from which an unused identity is a finding, in milliseconds: a new one is rarely used on its first day. */
const unusedAfterMs = 7 * dayMs;

/** Identities whose keys expire soon, or have expired. */
export const expiringKeys: FindingSource = {
  kind: FindingKind.EXPIRING_KEYS,
  capability: Capability.CAP_IAM_IDENTITY_LIST,
  startScan: scanOfIdentities((now) => {
    const before = now + expiresSoonMs;
    return {
      keysEnd: { relationshipType: RelationshipType.STATIC, before, createdBefore: before - maxStaticKeysAge },
    };
  }, keysExpiry),
};

/** Identities that nobody has assumed since they were created. */
export const unusedIdentities: FindingSource = {
  kind: FindingKind.UNUSED_IDENTITY,
  capability: Capability.CAP_IAM_IDENTITY_LIST,
  startScan: scanOfIdentities(
    (now) => ({ neverUsed: true, seenBefore: now - unusedAfterMs }),
    ({ createTime }) => createTime,
  ),
};

/** Identities with refused names: another owner may have taken the name of a workload. */
export const reusedNames: FindingSource = {
  kind: FindingKind.REUSED_NAME,
  capability: Capability.CAP_IAM_IDENTITY_LIST,
  startScan: scanOfIdentities(
    () => ({ hasRefusedNames: true }),
    ({ trust }) => trust?.refused[0]?.lastTime,
  ),
};

/** Identities that let in names without pinning them. */
export const unpinnedNames: FindingSource = {
  kind: FindingKind.UNPINNED_NAME,
  capability: Capability.CAP_IAM_IDENTITY_LIST,
  startScan: scanOfIdentities(
    () => ({ hasUnpinnedNames: true }),
    () => undefined,
  ),
};

const everything: IdentityFilter = {
  query: "",
  issuer: "",
  neverUsed: false,
  seenBefore: undefined,
  keysEnd: undefined,
  relationshipType: undefined,
  hasRefusedNames: false,
  hasUnpinnedNames: false,
  unpinned: undefined,
};

/** Returns the scan for identities that match a filter. */
export function identityScan(filter: Partial<IdentityFilter>): Scan {
  return {
    kind: identityCollection.kind,
    table: ({ identities }) => identities,
    uid: ({ identities }) => identities.uid,
    condition: identityCondition({ ...everything, ...filter })!,
  };
}

/** Shows an identity as a finding. */
export function showIdentity({ uid, name }: IdentityRow, time: number | undefined): FindingParts {
  const since = time !== undefined && { time: toTimestamp(time) };
  return { resourceUid: uid, resourceName: name, groupUid: parentOf(uid), ...since };
}

function scanOfIdentities(
  filterAt: (now: number) => Partial<IdentityFilter>,
  timeOf: (row: IdentityRow) => number | undefined,
) {
  return scanOfRows(
    (now) => identityScan(filterAt(now)),
    async (session, uids): Promise<FindingParts[]> => {
      const rows = await findRows(session, identityCollection, uids);
      return rows.map((row) => showIdentity(row, timeOf(row)));
    },
  );
}

function keysExpiry(row: IdentityRow): number {
  const relationship = fromColumns(row.relationship);
  const asked = relationship.case === "staticKeys" ? relationship.value.expirationTime : undefined;
  return staticKeysExpiry(asked && fromTimestamp(asked), row.createTime);
}
