// Records rotations of signing keys in the audit log.
import { operatorRole } from "../authz/built-in-roles.ts";
import { rootOf } from "../model/uid.ts";
import { type KeyRotation, keyRotationKind } from "../storage/change-log/access-entries.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { findBindingsOf } from "../storage/iam/role-bindings.ts";
import type { SigningKeyRow } from "../storage/installation/signing-keys.ts";

/** How many bindings of the operator role are read. */
const maxBindings = 100;

/** Records a new signing key in the organizations of the operators. */
export async function logKeyRotation(tx: Transaction, key: SigningKeyRow, othersRetireTime: number): Promise<void> {
  const bindings = await findBindingsOf(tx, "roleUid", operatorRole.uid, maxBindings);
  const after: KeyRotation = { kid: key.kid, algorithm: key.algorithm, othersRetireTime };
  for (const groupUid of new Set(bindings.map(({ parent }) => rootOf(parent))))
    tx.logChange({ kind: keyRotationKind, uid: key.kid, groupUid, before: null, after });
}
