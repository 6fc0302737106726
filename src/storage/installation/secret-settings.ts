// Settings whose values are encrypted.

import type { Session, Transaction } from "../engine/session.ts";
import { getOrSetSetting, readSetting, writeSetting } from "../engine/settings.ts";
import type { ColumnRef, Encryption } from "./encryption.ts";

/** The names of the secret settings. */
export const secretSettings = ["page_token_key", "registry_signing_key"] as const;
/** The name of a secret setting. */
export type SecretSetting = (typeof secretSettings)[number];

/** Returns a secret setting, or undefined if it was never set. Throws DecryptionError. */
export async function readSecret(
  session: Session,
  encryption: Encryption,
  name: SecretSetting,
): Promise<string | undefined> {
  const stored = await readSetting(session, name);
  return stored === undefined ? undefined : encryption.decrypt(settingColumn(name), stored);
}

/**
 * Returns a secret setting, storing `initial` first if it is unset. Re-encrypts it if it is not encrypted with the
 * current key. Throws DecryptionError.
 */
export async function getOrSetSecret(
  tx: Transaction,
  encryption: Encryption,
  name: SecretSetting,
  initial: string,
): Promise<string> {
  const ref = settingColumn(name);
  const stored = await getOrSetSetting(tx, name, encryption.encrypt(ref, initial));
  const secret = encryption.decrypt(ref, stored);
  if (!encryption.usesCurrentKey(stored)) await writeSetting(tx, name, encryption.encrypt(ref, secret));
  return secret;
}

/** Returns the column of a setting's value. */
function settingColumn(name: SecretSetting): ColumnRef {
  return { kind: "settings", uid: name, column: "value" };
}
