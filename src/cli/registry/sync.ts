// `registry sync`: copies the content of a registry into repos, tags and images below a group.

import { errorMessage } from "../../base/system-error.ts";
import { ContentError, describeImage } from "../../registry-notifications/image.ts";
import type { ImageDescription } from "../../storage/registry/manifests.ts";
import { openProgress } from "../client/progress.ts";
import type { Session } from "../client/session.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import { note } from "../shell.ts";
import { type Catalog, openCatalog } from "./catalog.ts";
import type { Source } from "./source.ts";

/** Options of a sync. */
export interface SyncOptions {
  readonly groupUid: string;
  /** Only these repositories; if empty, the whole catalog of the registry. */
  readonly repositories: readonly string[];
  /** Whether to delete tags that the registry no longer has. */
  readonly prune: boolean;
}

/** The number of concurrent requests at each of the two levels. */
const concurrency = 4;

/** Counts the changes. */
interface Totals {
  repositories: number;
  reposCreated: number;
  tagsSet: number;
  tagsRemoved: number;
  imagesRead: number;
  failed: number;
}

/**
 * Syncs the registry and returns the exit code: 1 if a repository could not be read, or was named but does not exist.
 */
export async function sync(session: Session, source: Source, options: SyncOptions): Promise<number> {
  const catalog = await openCatalog(session, options.groupUid);
  const totals: Totals = { repositories: 0, reposCreated: 0, tagsSet: 0, tagsRemoved: 0, imagesRead: 0, failed: 0 };
  const isNamed = options.repositories.length > 0;
  // The catalog may contain repositories of other organizations, which are skipped.
  const names = isNamed ? options.repositories : (await source.catalog()).filter((name) => catalog.covers(name));
  // Only a whole catalog shows which repositories are gone.
  const gone = options.prune && !isNamed ? goneRepos(catalog, names) : [];
  await bringAll(session, catalog, source, names, gone, options, totals);
  await session.output.one(view, { ...totals });
  return totals.failed > 0 ? 1 : 0;
}

async function bringAll(
  { shell }: Session,
  catalog: Catalog,
  source: Source,
  names: readonly string[],
  gone: readonly string[],
  options: SyncOptions,
  totals: Totals,
): Promise<void> {
  using progress = await openProgress(shell, "repositories", names.length + gone.length);
  await eachOf(names, async (name) => {
    try {
      await syncRepository(catalog, source, name, options, totals);
      totals.repositories++;
    } catch (error) {
      totals.failed++;
      const hint = error instanceof CommandFailure && error.hint !== "" ? `\n  ${error.hint}` : "";
      note(shell, `${printable(name)}: ${printable(errorMessage(error))}${hint}`);
    }
    progress.advance();
  });
  for (const uid of gone) {
    for (const tag of await catalog.tagsOf(uid)) await remove(catalog, tag, totals);
    progress.advance();
  }
}

const view = {
  noun: "results",
  columns: [
    { title: "repositories", value: "repositories" },
    { title: "repos created", value: "reposCreated" },
    { title: "tags set", value: "tagsSet" },
    { title: "tags removed", value: "tagsRemoved" },
    { title: "images read", value: "imagesRead" },
    { title: "failed", value: "failed" },
  ],
};

async function syncRepository(
  catalog: Catalog,
  source: Source,
  name: string,
  options: SyncOptions,
  totals: Totals,
): Promise<void> {
  const wanted = await readTags(catalog, source, name, options);
  // An empty repository does not need a repo.
  if (wanted.size === 0 && catalog.findRepo(name) === undefined) return;
  const { uid, isNew } = await catalog.openRepo(name);
  if (isNew) totals.reposCreated++;
  const present = new Map((isNew ? [] : await catalog.tagsOf(uid)).map((tag) => [tag.name, tag]));
  // Images first: clients that see the tag can read about its image.
  const broken = await bringImages(catalog, source, name, uid, [...new Set(wanted.values())], totals);
  const changed = [...wanted].filter(([tag, digest]) => present.get(tag)?.digest !== digest);
  await eachOf(changed, async ([tag, digest]) => {
    await catalog.setTag(uid, tag, digest, present.get(tag));
    totals.tagsSet++;
  });
  await catalog.queueImages(uid, [...new Set(wanted.values())]);
  const gone = options.prune ? [...present.values()].filter((tag) => !wanted.has(tag.name)) : [];
  for (const tag of gone) await remove(catalog, tag, totals);
  // Reported after everything else: one broken image does not affect its tags and other images.
  if (broken.length > 0) throw broken[0];
}

/** Returns the digest of each tag of a repository. Fails for a named repository that does not exist. */
async function readTags(
  catalog: Catalog,
  source: Source,
  name: string,
  { repositories, prune }: SyncOptions,
): Promise<Map<string, string>> {
  if (!catalog.covers(name)) throw new CommandFailure("this is a repository of another organization than --group");
  const tags = await source.tags(name);
  // With --prune, a repository may be named because it was deleted in the registry.
  const mayBeGone = repositories.length === 0 || (prune && catalog.findRepo(name) !== undefined);
  if (!tags && !mayBeGone) throw new CommandFailure(`the registry at ${source.origin} has no such repository`);
  const wanted = new Map<string, string>();
  await eachOf(tags ?? [], async (tag) => {
    const digest = await source.digestOf(name, tag);
    if (digest !== undefined) wanted.set(tag, digest);
  });
  return wanted;
}

/** Writes unknown images, and returns errors of images that are incomplete in the registry. */
async function bringImages(
  catalog: Catalog,
  source: Source,
  name: string,
  repoUid: string,
  digests: readonly string[],
  totals: Totals,
): Promise<ContentError[]> {
  const broken: ContentError[] = [];
  const images = new Map<string, ImageDescription>();
  await eachOf(await catalog.unknownImages(repoUid, digests), async (digest) => {
    try {
      images.set(digest, await describeImage(source.content, name, digest));
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      broken.push(error);
    }
  });
  await catalog.putImages(repoUid, images);
  totals.imagesRead += images.size;
  return broken;
}

async function remove(catalog: Catalog, tag: Parameters<Catalog["removeTag"]>[0], totals: Totals): Promise<void> {
  await catalog.removeTag(tag);
  totals.tagsRemoved++;
}

/** Returns the repos whose repositories are gone. */
function goneRepos(catalog: Catalog, names: readonly string[]): string[] {
  const kept = new Set(names.map((name) => catalog.findRepo(name)));
  return catalog.repos().filter((uid) => !kept.has(uid));
}

/** Runs the work for each item, a few at a time. Rejects with the first error and then starts nothing more. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const failures: unknown[] = [];
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, async () => {
    for (const item of queue) {
      await work(item).catch((error) => failures.push(error));
      if (failures.length > 0) return;
    }
  });
  await Promise.all(workers);
  if (failures.length > 0) throw failures[0];
}
