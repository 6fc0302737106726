// Settings that are secrets.

import type { Session, Transaction } from "../engine/session.ts";
import { readSetting, settleSetting, writeSetting } from "../engine/settings.ts";
import type { Place, Seals } from "./encryption.ts";

/** The settings that are secrets. */
export const secretSettings = ["page_token_key", "registry_signing_key"] as const;
/** The name of one of them. */
export type SecretSetting = (typeof secretSettings)[number];

/** As readSetting, for a secret. Throws SealError. */
export async function readSecret(session: Session, seals: Seals, name: SecretSetting): Promise<string | undefined> {
  const stored = await readSetting(session, name);
  return stored === undefined ? undefined : seals.open(settingPlace(name), stored);
}

/** As settleSetting, for a secret: it is stored sealed, and sealed anew when it is not by the key in use. */
export async function settleSecret(
  tx: Transaction,
  seals: Seals,
  name: SecretSetting,
  initial: string,
): Promise<string> {
  const place = settingPlace(name);
  const stored = await settleSetting(tx, name, seals.seal(place, initial));
  const secret = seals.open(place, stored);
  if (!seals.isCurrent(stored)) await writeSetting(tx, name, seals.seal(place, secret));
  return secret;
}

/** Where the value of a setting stands. */
function settingPlace(name: SecretSetting): Place {
  return { kind: "settings", uid: name, column: "value" };
}
