// Settings that are secrets.

import type { Session, Transaction } from "../engine/session.ts";
import { getOrSetSetting, readSetting, writeSetting } from "../engine/settings.ts";
import type { ColumnRef, Encryption } from "./encryption.ts";

/** The settings that are secrets. */
export const secretSettings = ["page_token_key", "registry_signing_key"] as const;
/** The name of one of them. */
export type SecretSetting = (typeof secretSettings)[number];

/** As readSetting, for a secret. Throws DecryptionError. */
export async function readSecret(
  session: Session,
  seals: Encryption,
  name: SecretSetting,
): Promise<string | undefined> {
  const stored = await readSetting(session, name);
  return stored === undefined ? undefined : seals.decrypt(settingPlace(name), stored);
}

/** As settleSetting, for a secret: it is stored sealed, and sealed anew when it is not by the key in use. */
export async function getOrSetSecret(
  tx: Transaction,
  seals: Encryption,
  name: SecretSetting,
  initial: string,
): Promise<string> {
  const place = settingPlace(name);
  const stored = await getOrSetSetting(tx, name, seals.encrypt(place, initial));
  const secret = seals.decrypt(place, stored);
  if (!seals.usesCurrentKey(stored)) await writeSetting(tx, name, seals.encrypt(place, secret));
  return secret;
}

/** Where the value of a setting stands. */
function settingPlace(name: SecretSetting): ColumnRef {
  return { kind: "settings", uid: name, column: "value" };
}
