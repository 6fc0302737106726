// Records rotations and retirements of signing keys in the audit log.
import {
  type KeyRetirement,
  type KeyRotation,
  keyRetirementKind,
  keyRotationKind,
} from "../storage/change-log/access-entries.ts";
import type { Transaction } from "../storage/engine/session.ts";
import type { SigningKeyRow } from "../storage/installation/signing-keys.ts";
import { organizationsOfOperators } from "./operators.ts";

/** Records a new signing key in the organizations of the operators. */
export async function logKeyRotation(tx: Transaction, key: SigningKeyRow, othersRetireTime: number): Promise<void> {
  const { kid: uid, algorithm } = key;
  const after: KeyRotation = { kid: uid, algorithm, othersRetireTime };
  for (const groupUid of await organizationsOfOperators(tx))
    tx.logChange({ kind: keyRotationKind, uid, groupUid, before: null, after });
}

/** Records there that a key retired at once. */
export async function logKeyRetirement(tx: Transaction, key: SigningKeyRow, retireTime: number): Promise<void> {
  const { kid: uid, algorithm } = key;
  const after: KeyRetirement = { kid: uid, algorithm, retireTime };
  for (const groupUid of await organizationsOfOperators(tx))
    tx.logChange({ kind: keyRetirementKind, uid, groupUid, before: null, after });
}
