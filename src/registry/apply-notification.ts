// What is told of a registry, written into repos, tags and images.

import { newChild } from "../model/uid.ts";
import { createGroup } from "../services/iam/bootstrap.ts";
import { logPush } from "../services/registry/pushes.ts";
import { kindsOf, writeTag } from "../services/registry/write-tag.ts";
import { deleteRow, insertRow, lockRow } from "../storage/collection/rows.ts";
import type { Transaction } from "../storage/engine/session.ts";
import { groupCollection } from "../storage/iam/collections.ts";
import { deleteManifests, replaceManifests } from "../storage/registry/manifests.ts";
import { findTagByName, findTagsByDigest } from "../storage/registry/repos-and-tags.ts";
import { type RepoRow, repoCollection, tagCollection } from "../storage/registry/rows.ts";
import type { ImagePlatform } from "./image.ts";
import { findPlace, type NameRules } from "./name.ts";
import type { RegistryEvent } from "./notification.ts";

/** Tags that are taken away with a digest, in portions of this size. */
const tagPortion = 500;

/**
 * Writes an event; false when its name stands for nothing. `platforms` is what the image is for, undefined when that is not
 * known.
 */
export async function writeEvent(
  tx: Transaction,
  event: RegistryEvent,
  platforms: readonly ImagePlatform[] | undefined,
  rules: NameRules,
): Promise<boolean> {
  return event.action === "push" ? await push(tx, event, platforms, rules) : await remove(tx, event, rules);
}

async function push(
  tx: Transaction,
  event: RegistryEvent,
  platforms: readonly ImagePlatform[] | undefined,
  rules: NameRules,
): Promise<boolean> {
  const repo = await openRepo(tx, event.repository, rules);
  if (!repo) return false;
  const previousDigest = event.tag === "" ? "" : await setTag(tx, repo.uid, event.tag, event.digest);
  if (platforms) await replaceManifests(tx, repo.uid, event.digest, platforms);
  const { repository, tag, digest, time, address, userAgent } = event;
  logPush(tx, repo, { repository, tag, previousDigest, digest, time, address, userAgent });
  return true;
}

/** Answers the digest that the tag had before; empty where there was no such tag. */
async function setTag(tx: Transaction, repoUid: string, name: string, digest: string): Promise<string> {
  const before = await findTagByName(tx, repoUid, name);
  const { deprecated, bundles } = before ?? { deprecated: false, bundles: [] };
  await writeTag(tx, repoUid, before, { name, digest, deprecated, bundles, ...kindsOf(name) });
  return before?.digest ?? "";
}

async function remove(tx: Transaction, { repository, tag, digest }: RegistryEvent, rules: NameRules): Promise<boolean> {
  const place = await findPlace(tx, repository, rules);
  if (place?.repoUid === undefined || !(await lockRow(tx, repoCollection, place.repoUid))) return false;
  if (digest === "") {
    const named = await findTagByName(tx, place.repoUid, tag);
    if (named) await deleteRow(tx, tagCollection, named);
    return true;
  }
  // Registries tell of the manifest alone, and its tags vanish with it.
  for (;;) {
    const tags = await findTagsByDigest(tx, place.repoUid, digest, tagPortion);
    for (const one of tags) await deleteRow(tx, tagCollection, one);
    if (tags.length < tagPortion) break;
  }
  await deleteManifests(tx, place.repoUid, digest);
  return true;
}

/** The repo of this name, kept as it is until the end of the transaction; it is created when it is missing. */
async function openRepo(tx: Transaction, repository: string, rules: NameRules): Promise<RepoRow | undefined> {
  const seen = await findPlace(tx, repository, rules);
  if (!seen) return undefined;
  // The usual case, in which pushes to other repos of the group need not wait.
  if (seen.repoUid !== undefined) return await lockRow(tx, repoCollection, seen.repoUid);
  // Two that come at once must not both create the group or the repo: the second one looks again.
  if (!(await lockRow(tx, groupCollection, seen.groupUid))) return undefined;
  const place = await findPlace(tx, repository, rules);
  if (!place) return undefined;
  if (place.repoUid !== undefined) return await lockRow(tx, repoCollection, place.repoUid);
  // Below the group that the operator gave to the registry, and nowhere else.
  if (place.missing.length > 0 && rules.registryGroup === "") return undefined;
  let parent = place.groupUid;
  for (const name of place.missing) parent = (await createGroup(tx, parent, name, "")).uid;
  const repo = newRepo(tx, parent, place.repoName);
  await insertRow(tx, repoCollection, repo);
  return repo;
}

function newRepo(tx: Transaction, parent: string, name: string): RepoRow {
  const { time } = tx.context;
  return {
    ...{ uid: newChild(parent), parent, name, description: "", createTime: time, updateTime: time },
    ...{ catalogTier: 0, bundles: [], aliases: [], activeTags: [] },
  };
}
