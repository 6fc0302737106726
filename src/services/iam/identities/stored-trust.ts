// The pins of an identity as they are stored, logged and shown.
import { createHash } from "node:crypto";
import { create, type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import {
  NamePolicy as Policy,
  PinSource as Source,
  TrustSchema,
} from "../../../../gen/gatehouse/iam/v1/workload_trust_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { type NamePolicy, noTrust, type PinSource, type Trust } from "../../../model/trust.ts";
import type { RowView } from "../../../resource/row-view.ts";
import { eventForm } from "../../../resource/sentence-form.ts";
import { updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import type { IdentityRow } from "../../../storage/iam/rows.ts";
import type { StoredRelationship } from "../../../storage/schema/tables/iam.ts";

/** The kind of changes of pins in the change log. */
const trustKind = "identity_trust";

const policies: Readonly<Record<NamePolicy, Policy>> = {
  "first-use": Policy.FIRST_USE,
  explicit: Policy.EXPLICIT,
  off: Policy.OFF,
};

const sources: Readonly<Record<PinSource, Source>> = {
  "first-use": Source.FIRST_USE,
  explicit: Source.EXPLICIT,
  accepted: Source.ACCEPTED,
};

/** Returns the policy of a message; undefined for that of the installation. */
export function policyOf(policy: Policy): NamePolicy | undefined {
  return (Object.keys(policies) as NamePolicy[]).find((name) => policies[name] === policy);
}

/** Returns the policy as messages have it. */
export function policyNumber(policy: NamePolicy | undefined): Policy {
  return policy ? policies[policy] : Policy.UNSPECIFIED;
}

/** Returns the source of a message; that of a request that names the id if it has none. */
export function sourceOf(source: Source): PinSource {
  return (Object.keys(sources) as PinSource[]).find((name) => sources[name] === source) ?? "explicit";
}

/** Returns the trust of a row as its message. `policy` is the one that is in force. */
export function trustMessage(
  identity: string,
  trust: Trust,
  policy: NamePolicy | undefined,
): MessageInitShape<typeof TrustSchema> {
  return {
    identity,
    namePolicy: policyNumber(trust.policy),
    effectiveNamePolicy: policyNumber(policy),
    pinnedNames: trust.pins.map(({ kind, name, id, source, time }) => ({
      kind,
      name,
      id,
      source: sources[source],
      createTime: toTimestamp(time),
    })),
    refusedNames: trust.refused.map(({ lastTime, count, ...refused }) => ({
      ...refused,
      lastTime: toTimestamp(lastTime),
      count: BigInt(count),
    })),
    etag: etagOf(trust),
  };
}

/** Returns the etag of the policy and the pins. */
export function etagOf({ policy, pins }: Trust): string {
  const texts = [policy ?? "", ...pins.flatMap(({ kind, name, id }) => [kind, name, id])];
  return createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 22);
}

/**
 * Stores the trust of an identity. Changes of pins and policy are logged; refused names are not, for the audit log has each denial. The
 * update time of the identity stays, and no event is sent.
 */
export async function storeTrust(tx: Transaction, row: IdentityRow, trust: Trust): Promise<IdentityRow> {
  const before = row.trust ?? noTrust;
  const after = await updateRow(tx, identityCollection, row, { ...row, trust });
  logTrust(tx, row, before, trust);
  return after;
}

/** Logs a change of pins or policy, if it is one. */
export function logTrust(tx: Transaction, { uid, parent }: IdentityRow, before: Trust, after: Trust): void {
  if (etagOf(before) === etagOf(after)) return;
  tx.logChange({
    kind: trustKind,
    uid,
    groupUid: parent ?? "/",
    before: loggedTrust(before),
    after: loggedTrust(after),
  });
}

function loggedTrust({ policy, pins }: Trust): Trust {
  return { ...noTrust, ...(policy && { policy }), pins };
}

/** Shows changes of pins in the audit log. */
export const trustView: RowView = {
  kind: trustKind,
  show(row) {
    const { namePolicy, pinnedNames } = create(TrustSchema, trustMessage("", row as Trust, undefined));
    return toJson(TrustSchema, create(TrustSchema, { namePolicy, pinnedNames })) as JsonObject;
  },
  sentence: eventForm("changed"),
};

/** Returns the trust of an identity after a change of its relationship: ids of another issuer mean nothing, so pins go with it. */
export function trustAfter(trust: Trust | null, before: StoredRelationship, after: StoredRelationship): Trust | null {
  if (!trust || issuerOf(before) === issuerOf(after)) return trust;
  return trust.policy ? { ...noTrust, policy: trust.policy } : null;
}

/** Returns a text that is the same for relationships to the same issuer. */
function issuerOf({ case: kind, value }: StoredRelationship): string {
  const { issuer = "", issuerPattern = "", awsAccount = "" } = (value ?? {}) as Record<string, unknown>;
  return JSON.stringify([kind, issuer, issuerPattern, awsAccount]);
}
