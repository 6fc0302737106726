// Stores which kinds of registries notify of uses, since when, and which repos are in them.
import { textPlaceholder } from "../engine/placeholders.ts";
import { recordingIn } from "../engine/recording.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { getOrSetSetting, readSetting } from "../engine/settings.ts";
import { and, gte, lt, sql } from "../schema/drizzle.ts";
import type { RepoRange } from "./use-queries.ts";

/** The kinds of registries that send notifications. */
export const registryKinds = ["distribution", "harbor", "zot", "azure"] as const;

/** A kind of registry. */
export type RegistryKind = (typeof registryKinds)[number];

/** The recording of uses. */
export const useRecording = recordingIn("image_uses_recording");

const firstUseSetting = (registry: RegistryKind) => `image_uses_first_${registry}`;

/** Stores that registries of a kind notify of uses, unless that is stored. */
export async function noteFirstUse(tx: Transaction, registry: RegistryKind): Promise<void> {
  await getOrSetSetting(tx, firstUseSetting(registry), String(tx.context.time));
}

/** Stores the kind of registry that a repo is in. */
export async function setRegistry(tx: Transaction, repoUid: string, registry: RegistryKind): Promise<void> {
  const statement = tx.prepared("repo_registries.set", (db, { repoRegistries }) =>
    db
      .insert(repoRegistries)
      .values({ repoUid: sql.placeholder("repoUid"), registry: sql.placeholder("registry") })
      .onConflictDoUpdate({
        target: repoRegistries.repoUid,
        set: { registry: sql`excluded.registry` },
        setWhere: sql`excluded.registry <> ${repoRegistries.registry}`,
      }),
  );
  await statement.execute({ repoUid, registry });
}

/** The uses that are known of some repos. */
export interface Coverage {
  /** Since when all are known, in milliseconds since the epoch; undefined if that is never. */
  readonly start: number | undefined;
  /** A kind of registry that has never notified of a use, and that some of the repos are in; undefined if that is unknown, or none is. */
  readonly silent: RegistryKind | undefined;
}

/** Returns the coverage of the repos in some ranges. Repos without a notification count as those of the first registry that sent a use. */
export async function findCoverage(session: Session, ranges: readonly RepoRange[]): Promise<Coverage> {
  const recordedSince = await useRecording.since(session);
  if (recordedSince === undefined) return { start: undefined, silent: undefined };
  const starts = new Map<RegistryKind, number>();
  for (const kind of registryKinds) {
    const first = await readSetting(session, firstUseSetting(kind));
    if (first !== undefined) starts.set(kind, Number(first));
  }
  const kinds = await findRegistries(session, ranges);
  const silent = registryKinds.find((kind) => kinds.has(kind) && !starts.has(kind));
  if (silent || starts.size === 0) return { start: undefined, silent };
  const firsts = [...kinds].flatMap((kind) => starts.get(kind) ?? []);
  const start = Math.max(recordedSince, firsts.length > 0 ? Math.max(...firsts) : Math.min(...starts.values()));
  return { start, silent: undefined };
}

async function findRegistries(session: Session, ranges: readonly RepoRange[]): Promise<Set<RegistryKind>> {
  const statement = session.prepared(
    "repo_registries.within",
    (db, { repoRegistries: { repoUid, registry }, repoRegistries }) =>
      db
        .selectDistinct({ registry })
        .from(repoRegistries)
        .where(and(gte(repoUid, textPlaceholder("from")), lt(repoUid, textPlaceholder("to")))),
  );
  const found = new Set<RegistryKind>();
  for (const { from, to } of ranges)
    for (const { registry } of await statement.execute({ from, to })) found.add(registry as RegistryKind);
  return found;
}
