// The rules for verified organizations, and for who may verify one.
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type Group, GroupSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { alreadyExists, failedPrecondition, invalidField } from "../../../aip/errors.ts";
import { resourceType } from "../../../aip/resource-type.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { writeSetting } from "../../../storage/engine/settings.ts";
import { findVerifiedRoots } from "../../../storage/iam/group-names.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";

/** Returns the row to store: fields that the caller may not change keep their values. */
export async function allowedChange(tx: Transaction, before: GroupRow, asked: GroupRow, call: Call): Promise<GroupRow> {
  // Only operators change these, and only of organizations.
  const mayChange = isOperator(call) && before.parent === null;
  const after = mayChange ? asked : { ...asked, verified: before.verified, kind: before.kind };
  if (before.verified && after.name !== before.name) {
    throw failedPrecondition("VERIFIED_NAME", "a verified organization cannot be renamed", before.uid);
  }
  // An update does not have to fix earlier violations.
  if (after.verified !== before.verified || after.kind !== before.kind) requireKind(after);
  if (after.verified !== before.verified) await refuseTakenName(tx, after);
  return after;
}

/** Whether the caller is an operator of the installation. */
export function isOperator(call: Call): boolean {
  return accessOf(call).scope([Capability.CAP_INTERNAL]).length > 0;
}

/** Clears the fields that only operators may set, for any other caller. */
export function withOperatorFields(call: Call, value: Group): Group {
  return isOperator(call) ? value : { ...value, verified: false, kind: 0 };
}

/** Throws if a verified organization has no kind. */
export function requireKind({ verified, kind }: Pick<GroupRow, "verified" | "kind">): void {
  if (verified && kind === 0) throw invalidField("kind", "is required for a verified organization");
}

/** Throws if another verified organization has the name. */
export async function refuseTakenName(tx: Transaction, row: GroupRow): Promise<void> {
  if (!row.verified || row.parent !== null) return;
  // Serializes concurrent verifications of one name: both write this row, so the second waits for the first.
  await writeSetting(tx, "latest_verified_name", row.name);
  const same = await findVerifiedRoots(tx, row.name);
  if (same.some((other) => other.uid !== row.uid))
    throw alreadyExists(resourceType(GroupSchema), row.name, `a verified organization named ${row.name}`);
}
