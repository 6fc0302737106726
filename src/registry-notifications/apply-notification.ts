// Applies registry notifications to repos, tags and images.

import { newChild } from "../model/uid.ts";
import { createGroup } from "../services/iam/bootstrap.ts";
import { logPush } from "../services/registry/pushes.ts";
import { kindsOf, writeTag } from "../services/registry/tags/write-tag.ts";
import { deleteRow, insertOrRetry, lockRow } from "../storage/collection/rows.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { groupCollection } from "../storage/iam/collections.ts";
import { markImageGone, openImages, setPushTime } from "../storage/images/images.ts";
import { queueImage, queueImagesWithSboms } from "../storage/images/queue.ts";
import { deleteManifests, type ImageDescription, storeImage } from "../storage/registry/manifests.ts";
import { findTagByName, findTagsByDigest } from "../storage/registry/repos-and-tags.ts";
import { findPlace, type NameRules } from "../storage/registry/repository-name.ts";
import { type RepoRow, repoCollection, tagCollection } from "../storage/registry/rows.ts";
import { setRegistry } from "../storage/registry/use-coverage.ts";
import { type RegistryEvent, timeWithin } from "./notification.ts";

/** How many images are read again after a deletion. */
const rereadImages = 1000;

/** Batch size for deleting the tags of a digest. */
const tagPortion = 500;

/** The rules by which events are applied. */
export interface EventRules extends NameRules {
  /** Whether the SBOMs of images are read from the registry; false if absent. */
  readonly readsContents?: boolean;
}

/**
 * Applies an event. Returns false if its repository name does not map to a repo. `image` describes the image; undefined if
 * unknown.
 */
export async function writeEvent(
  tx: Transaction,
  event: RegistryEvent,
  image: ImageDescription | undefined,
  rules: EventRules,
): Promise<boolean> {
  return event.action === "push" ? await push(tx, event, image, rules) : await remove(tx, event, rules);
}

async function push(
  tx: Transaction,
  event: RegistryEvent,
  image: ImageDescription | undefined,
  rules: EventRules,
): Promise<boolean> {
  const repo = await openRepo(tx, event.repository, rules);
  if (!repo) return false;
  const previousDigest = event.tag === "" ? "" : await setTag(tx, repo.uid, event.tag, event.digest);
  const { repository, tag, digest, address, userAgent } = event;
  const time = timeWithin(event.time, tx.context.time);
  if (image) await storeImage(tx, repo.uid, digest, image);
  await setRegistry(tx, repo.uid, event.registry);
  const no = (await openImages(tx, repo.uid, [digest])).get(digest)!;
  await setPushTime(tx, no, time);
  if (rules.readsContents) await queuePushed(tx, repo.uid, no, tag);
  logPush(tx, repo, { repository, tag, previousDigest, digest, time, address, userAgent });
  return true;
}

/** Queues a pushed image, and the image that a pushed tag is about: SBOMs are attached after the image is pushed. */
async function queuePushed(tx: Transaction, repoUid: string, no: number, tag: string): Promise<void> {
  const [, hex] = /^sha256-([0-9a-f]{64})(?:\.att|\.sbom)?$/.exec(tag) ?? [];
  const subject = hex === undefined ? [] : [...(await openImages(tx, repoUid, [`sha256:${hex}`])).values()];
  for (const image of [no, ...subject].sort((a, b) => a - b)) await queueImage(tx, image, tx.context.time);
}

/** Returns the previous digest of the tag; empty for a new tag. */
async function setTag(tx: Transaction, repoUid: string, name: string, digest: string): Promise<string> {
  const before = await findTagByName(tx, repoUid, name);
  const { deprecated, bundles } = before ?? { deprecated: false, bundles: [] };
  await writeTag(tx, repoUid, before, { name, digest, deprecated, bundles, ...kindsOf(name) });
  return before?.digest ?? "";
}

async function remove(
  tx: Transaction,
  { repository, tag, digest }: RegistryEvent,
  rules: EventRules,
): Promise<boolean> {
  const place = await findPlace(tx, repository, rules);
  if (!place) return false;
  if (place.repoUid === undefined || !(await lockRow(tx, repoCollection, place.repoUid))) return true;
  // The deleted manifest may be an SBOM, and nobody can tell of which image any more.
  if (rules.readsContents) await queueImagesWithSboms(tx, place.repoUid, rereadImages);
  if (digest === "") {
    const named = await findTagByName(tx, place.repoUid, tag);
    if (named) await deleteRow(tx, tagCollection, named);
    return true;
  }
  // Registries report the deleted manifest only; its tags are deleted with it.
  for (;;) {
    const tags = await findTagsByDigest(tx, place.repoUid, digest, tagPortion);
    for (const one of tags) await deleteRow(tx, tagCollection, one);
    if (tags.length < tagPortion) break;
  }
  await deleteManifests(tx, place.repoUid, digest);
  await markImageGone(tx, place.repoUid, digest);
  return true;
}

/** Returns the repo with this name, locked until the end of the transaction. Creates it if it is missing. */
async function openRepo(tx: Transaction, repository: string, rules: NameRules): Promise<RepoRow | undefined> {
  const seen = await findPlace(tx, repository, rules);
  if (!seen) return undefined;
  // The common case: pushes to other repos of the group do not wait.
  if (seen.repoUid !== undefined) return await lockRow(tx, repoCollection, seen.repoUid);
  // Two concurrent notifications must not both create the group or the repo, so look again under the lock.
  if (!(await lockRow(tx, groupCollection, seen.groupUid))) return undefined;
  const place = await findPlace(tx, repository, rules);
  if (!place) return undefined;
  if (place.repoUid !== undefined) return await lockRow(tx, repoCollection, place.repoUid);
  // Only below the group that the operator assigned to the registry.
  if (place.missing.length > 0 && rules.registryGroup === "") return undefined;
  let parent = place.groupUid;
  for (const name of place.missing) parent = (await createGroup(tx, parent, name, "")).uid;
  const repo = newRepo(tx, parent, place.repoName);
  await insertOrRetry(tx, repoCollection, repo);
  return repo;
}

function newRepo(tx: Transaction, parent: string, name: string): RepoRow {
  const { time } = tx.context;
  return {
    uid: newChild(parent),
    parent,
    name,
    description: "",
    createTime: time,
    updateTime: time,
    catalogTier: 0,
    bundles: [],
    aliases: [],
    activeTags: [],
  };
}
