// The installation: the issuer and the secrets that belong to the data.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/settings.ts";
import { countedSinceSetting } from "../services/statistics/limits.ts";
import type { Database } from "../storage/database.ts";
import { getOrSetSetting, readSetting, writeSetting } from "../storage/engine/settings.ts";
import { reencryptColumns } from "../storage/installation/encrypted-columns.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import { storeLoginIssuer } from "../storage/installation/login-issuer.ts";
import { getOrSetSecret } from "../storage/installation/secret-settings.ts";
import { operatorsLoginIssuer } from "./outbound.ts";

/** Returns the key of page tokens. Throws if the configuration does not match the data. */
export async function initializeInstallation(
  config: Config,
  database: Database,
  encryption: Encryption,
  clock: Clock,
): Promise<Uint8Array> {
  const loginIssuer = await operatorsLoginIssuer(config);
  return await database.write(startContext(clock), async (tx) => {
    requireIssuer(await readSetting(tx, issuerSetting), config);
    await storeLoginIssuer(tx, loginIssuer);
    await getOrSetSetting(tx, countedSinceSetting, String(tx.context.time));
    const initial = randomBytes(32).toString("base64url");
    return Buffer.from(await getOrSetSecret(tx, encryption, "page_token_key", initial), "base64url");
  });
}

/** The setting with the base URL that the data belongs to. */
const issuerSetting = "issuer";

/** Stores the issuer once the server listens. Throws if another server has stored another one meanwhile. */
export async function storeIssuer(config: Config, database: Database, clock: Clock): Promise<void> {
  const stored = await readSetting(database.session, issuerSetting);
  if (stored === config.baseUrl) return;
  await database.write(startContext(clock), async (tx) => {
    requireIssuer(await getOrSetSetting(tx, issuerSetting, config.baseUrl), config);
    await writeSetting(tx, issuerSetting, config.baseUrl);
  });
}

/** Encrypts secrets of old keys with the current key, so the old keys can be removed. */
export async function reencryptSecrets(
  database: Database,
  encryption: Encryption,
  clock: Clock,
  log: Logger,
): Promise<void> {
  const { reencrypted, findings } = await reencryptColumns(database, encryption, startContext(clock));
  if (reencrypted > 0) log.info({ reencrypted }, "secrets were re-encrypted with the current key");
  for (const finding of findings) log.error({ finding }, "a secret cannot be opened");
}

function requireIssuer(issuer: string | undefined, { baseUrl, dev, acceptIssuerChange }: Config): void {
  if (issuer === undefined || issuer === baseUrl || dev || acceptIssuerChange) return;
  throw new ConfigError(
    `base-url: the data was made under ${issuer}; set it back, or start once with --accept-issuer-change.`,
  );
}

function startContext(clock: Clock) {
  return { actor: "", method: "start", requestId: "", time: clock() };
}
