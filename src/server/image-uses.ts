// Stores who used images.
import { inPortions } from "../base/portions.ts";
import { registryLimits } from "../registry-notifications/limits.ts";
import type { NamedUse, UseTally } from "../registry-notifications/use-tally.ts";
import type { Database } from "../storage/database.ts";
import type { Session, Transaction, WriteContext } from "../storage/engine/session.ts";
import { storeImageUses } from "../storage/registry/image-uses.ts";
import { findPlace, type NameRules } from "../storage/registry/repository-name.ts";
import { noteFirstUse, setRegistry, useRecording } from "../storage/registry/use-coverage.ts";
import { limits } from "./limits.ts";
import { storeRecordedUses } from "./recorded-uses.ts";
import type { ServerContext } from "./server-context.ts";

/** How many uses one transaction stores. */
const batchSize = 200;

/** Stores the uses of this process every second. Disposing it stores the rest. Without a tally, stores that none are recorded. */
export function storeUses(
  context: Pick<ServerContext, "clock" | "log" | "config">,
  database: Pick<Database, "write" | "session">,
  tally: UseTally | undefined,
): Promise<AsyncDisposable> {
  const names = { registryGroup: context.config.registry.group, maxDepth: limits.groupDepth };
  return storeRecordedUses(context, database, {
    method: "image_uses",
    recording: useRecording,
    intervalMs: registryLimits.useStoreMs,
    failure: "storing the uses of images failed",
    store: tally && ((_isAll, newWrite) => storeTally(tally, database, names, newWrite)),
  });
}

async function storeTally(
  tally: UseTally,
  { session, write }: Pick<Database, "write" | "session">,
  names: NameRules,
  newWrite: () => WriteContext,
): Promise<void> {
  const repoUids = new Map<string, string | undefined>();
  await inPortions(
    tally.take(),
    batchSize,
    async (uses) => {
      await findRepos(session, uses, names, repoUids);
      await write(newWrite(), (tx) => storeNamed(tx, uses, repoUids));
    },
    (rest) => tally.putBack(rest),
  );
  // Images without a use are unused only since now.
  if (tally.takeLost()) await write(newWrite(), useRecording.restart);
}

/** Adds the repos of repositories that were not looked up. */
async function findRepos(
  session: Session,
  uses: readonly NamedUse[],
  names: NameRules,
  found: Map<string, string | undefined>,
): Promise<void> {
  for (const { repository } of uses)
    if (!found.has(repository)) found.set(repository, (await findPlace(session, repository, names))?.repoUid);
}

/** Stores uses of repos that exist. A pull creates none. */
async function storeNamed(
  tx: Transaction,
  uses: readonly NamedUse[],
  repoUids: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const known = uses.flatMap(({ registry, repository, ...use }) => {
    const repoUid = repoUids.get(repository);
    return repoUid === undefined ? [] : [{ ...use, registry, repoUid }];
  });
  const repos = await storeImageUses(tx, known);
  const registries = new Map(known.map(({ repoUid, registry }) => [repoUid, registry]));
  for (const repoUid of repos) await setRegistry(tx, repoUid, registries.get(repoUid)!);
  for (const registry of new Set(registries.values())) await noteFirstUse(tx, registry);
}
