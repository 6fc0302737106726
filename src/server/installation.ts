// The installation: the issuer and the secrets that belong to the data.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/settings.ts";
import type { Database } from "../storage/database.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { getOrSetSetting, writeSetting } from "../storage/engine/settings.ts";
import { reencryptColumns } from "../storage/installation/encrypted-columns.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import { getOrSetSecret } from "../storage/installation/secret-settings.ts";

/**
 * Stores the issuer at the first start, and returns the key of page tokens. Throws if the configuration does not match
 * the data.
 */
export async function initializeInstallation(
  config: Config,
  database: Database,
  encryption: Encryption,
  clock: Clock,
): Promise<Uint8Array> {
  return await database.write(startContext(clock), async (tx) => {
    await requireIssuer(tx, config);
    const initial = randomBytes(32).toString("base64url");
    return Buffer.from(await getOrSetSecret(tx, encryption, "page_token_key", initial), "base64url");
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

async function requireIssuer(tx: Transaction, { baseUrl, dev, acceptIssuerChange }: Config): Promise<void> {
  const issuer = await getOrSetSetting(tx, "issuer", baseUrl);
  if (issuer === baseUrl) return;
  if (!dev && !acceptIssuerChange) {
    throw new ConfigError(
      `base-url: the data was made under ${issuer}; set it back, or start once with --accept-issuer-change.`,
    );
  }
  await writeSetting(tx, "issuer", baseUrl);
}

function startContext(clock: Clock) {
  return { actor: "", method: "start", requestId: "", time: clock() };
}
