// Opens what a server stores: the database, the encryption of its secrets, and the signing keys in it.
import { type KeyRing, openKeyRing } from "../authn/key-ring.ts";
import { readKeyRing } from "../config/key-ring-file.ts";
import { registryLimits } from "../registry-notifications/limits.ts";
import { UseTally } from "../registry-notifications/use-tally.ts";
import { syncBuiltInRoles } from "../services/iam/roles/built-in-role-rows.ts";
import { countChanges } from "../services/statistics/counted-events.ts";
import { DailyTally } from "../services/statistics/daily-tally.ts";
import { statisticsLimits } from "../services/statistics/limits.ts";
import { type Database, isPostgresUrl, type OpenOptions } from "../storage/database.ts";
import type { AppliedMigration } from "../storage/engine/migrations.ts";
import { newEncryption, type ReplaceableEncryption, replaceable } from "../storage/installation/encryption.ts";
import { keyStore } from "../storage/installation/signing-keys.ts";
import { storeCounts } from "./count-store.ts";
import { storeUses } from "./image-uses.ts";
import { initializeInstallation, reencryptSecrets } from "./installation.ts";
import { limits } from "./limits.ts";
import { openConfiguredDatabase } from "./open-database.ts";
import type { ServerContext } from "./server-context.ts";
import type { StartHooks } from "./start-hooks.ts";

/** The storage of a server. Disposing it closes the database. */
export interface ServerStorage extends AsyncDisposable {
  readonly database: Database;
  readonly encryption: ReplaceableEncryption;
  /** The keys that sign API tokens. */
  readonly keys: KeyRing;
  /** Authenticates page tokens. */
  readonly pageTokenKey: Uint8Array;
  /** Calls the listener after each commit of this process that logged a change. */
  onCommit(listener: () => void): void;
  /** The counts for statistics that this process has not stored yet. */
  readonly tally: DailyTally;
  /** The uses of images that this process has not stored yet; undefined if none are recorded. */
  readonly imageUses: UseTally | undefined;
}

/** Opens the storage. Writes nothing before `admit` resolves. */
export async function openStorage(
  context: ServerContext,
  { admit, termClock }: Pick<StartHooks, "admit" | "termClock">,
): Promise<ServerStorage> {
  const { config, clock, log } = context;
  await using opened = new AsyncDisposableStack();
  const tally = new DailyTally(statisticsLimits.waitingSums);
  const commitListeners: (() => void)[] = [];
  const onChanges: OpenOptions["onChanges"] = (changes, time) => {
    countChanges(tally, changes, time);
    if (changes.length > 0) for (const listener of commitListeners) listener();
  };
  // A file has no time of its own.
  const options = { onChanges, termClock: termClock ?? (isPostgresUrl(config.databaseUrl) ? undefined : clock) };
  const database = await openConfiguredDatabase({ ...config, ...options }, {}, "create", (applied, isNew) => {
    if (!isNew) log.info({ event: "database_migrated", ...summary(applied) }, "the database schema is up to date");
  });
  opened.defer(() => database.close());
  database.onHostChanged?.((host) =>
    log.warn({ event: "database_host_changed", host }, "the database moved to another host"),
  );
  database.replicas?.onChange((host, failure) => {
    if (failure)
      log.warn(
        { event: "database_replica_unused", host, ...failure },
        "a replica cannot be used: the primary answers lists",
      );
    else log.info({ event: "database_replica_used", host }, "a replica is used again");
  });
  await admit?.(database);
  const encryption = replaceable(newEncryption(readKeyRing(config)));
  const pageTokenKey = await initializeInstallation(config, database, encryption, clock);
  await syncBuiltInRoles(database, clock());
  const keys = await openSigningKeys(context, database, encryption);
  // Last, because a start that cannot decrypt a secret it needs changes none.
  await reencryptSecrets(database, encryption, clock, log);
  opened.use(storeCounts(context, database, tally));
  const imageUses = config.usesKeptMs > 0 ? new UseTally(registryLimits.waitingUses) : undefined;
  opened.use(await storeUses(context, database, imageUses));
  const closing = opened.move();
  return {
    database,
    encryption,
    keys,
    pageTokenKey,
    onCommit: (listener) => void commitListeners.push(listener),
    tally,
    imageUses,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function summary(applied: readonly AppliedMigration[]) {
  const durationMs = applied.reduce((sum, migration) => sum + migration.durationMs, 0);
  return { migrations: applied.map(({ name }) => name), durationMs };
}

function openSigningKeys(
  { config, clock }: ServerContext,
  database: Database,
  encryption: ReplaceableEncryption,
): Promise<KeyRing> {
  return openKeyRing(keyStore(database, encryption, clock), {
    algorithm: config.signingAlgorithm,
    clock,
    refreshCooldownMs: limits.keyRefreshCooldownMs,
    patienceMs: limits.keyPatienceMs,
    maxAgeMs: limits.keyMaxAgeMs,
  });
}
