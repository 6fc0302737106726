// Rotations of the signing keys as entries of the audit log.
import { operatorRole } from "../authz/built-in-roles.ts";
import { rootOf } from "../model/uid.ts";
import { type KeyRotation, keyRotationKind } from "../storage/change-log/access-entries.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { findBindingsOf } from "../storage/iam/role-bindings.ts";
import type { SigningKeyRow } from "../storage/installation/signing-keys.ts";

/** Bindings of the operator role that are looked at. */
const maxBindings = 100;

/** Logs a new signing key in the organizations whose members operate the installation. */
export async function logKeyRotation(tx: Transaction, key: SigningKeyRow, othersRetireTime: number): Promise<void> {
  const bindings = await findBindingsOf(tx, "roleUid", operatorRole.uid, maxBindings);
  const after: KeyRotation = { kid: key.kid, algorithm: key.algorithm, othersRetireTime };
  for (const groupUid of new Set(bindings.map(({ parent }) => rootOf(parent))))
    tx.logChange({ kind: keyRotationKind, uid: key.kid, groupUid, before: null, after });
}
