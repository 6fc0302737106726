// Reloads certificate and key, secrets and log level of a running server. All other settings need a restart
// (config/reloaded-settings.ts).
import type { Logger } from "pino";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { readKeyRing } from "../config/key-ring-file.ts";
import type { LiveSecrets } from "../config/live-secrets.ts";
import { ConfigError } from "../config/settings.ts";
import type { Database } from "../storage/database.ts";
import { undecryptableSecrets } from "../storage/installation/encrypted-columns.ts";
import { type Encryption, newEncryption, type ReplaceableEncryption } from "../storage/installation/encryption.ts";
import { reencryptSecrets } from "./installation.ts";
import type { ServerTransports } from "./transports.ts";

/** The parts of a server that a reload replaces. */
export interface ReloadContext {
  readonly database: Database;
  readonly encryption: ReplaceableEncryption;
  readonly secrets: LiveSecrets;
  readonly transports: Pick<ServerTransports, "renewCertificate">;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Applies the reloadable part of new settings. Rejects with a ConfigError, and changes nothing, if a part is invalid.
 */
export async function reload(context: ReloadContext, config: Config): Promise<void> {
  const { database, encryption, secrets, transports, clock, log } = context;
  // A missing key that development mode created is not created again.
  const next = newEncryption(readKeyRing({ ...config, dev: false }));
  const hasOtherKeys = String(next.keyIds) !== String(encryption.keyIds);
  // A new certificate must not wait for the database.
  if (hasOtherKeys) await requireDecryptableSecrets(database, next);
  if (config.tls) transports.renewCertificate(config.tls);
  secrets.renew(config);
  log.level = config.logLevel;
  if (!hasOtherKeys) return;
  encryption.replace(next);
  // The new keys also decrypt what the old ones encrypted, so re-encryption may be left to the next start.
  await reencryptSecrets(database, encryption, clock, log).catch((error) =>
    log.error({ err: error }, "re-encrypting secrets with the new key failed"),
  );
}

/** Throws if the keys do not decrypt the stored secrets: the server would fail later. */
async function requireDecryptableSecrets({ session }: Database, encryption: Encryption): Promise<void> {
  for await (const problem of undecryptableSecrets(session, encryption))
    throw new ConfigError(`secrets-key: ${problem}.`);
}
