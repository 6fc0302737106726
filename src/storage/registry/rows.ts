// The rows of the registry resources, and how they are stored.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import type { Transaction } from "../engine/session.ts";
import { imageTables } from "../images/check.ts";
import { addTagDigest, clearTagDigests } from "./tag-history.ts";

/** A repo as it is stored. */
export interface RepoRow extends ResourceRow {
  readonly parent: string;
  readonly name: string;
  readonly description: string;
  readonly catalogTier: number;
  readonly bundles: string[];
  readonly aliases: string[];
  readonly activeTags: string[];
  readonly updateTime: number;
}

export const repoCollection: Collection<RepoRow> = {
  kind: "repos",
  rows: (tables) => tables.repos,
  entries: (tables) => tables.repoEntries,
  changesAccess: [],
  derived: imageTables,
};

/** A tag as it is stored. */
export interface TagRow extends ResourceRow {
  /** The uid of the repo. */
  readonly parent: string;
  readonly name: string;
  readonly digest: string;
  readonly deprecated: boolean;
  readonly bundles: string[];
  readonly isReferrer: boolean;
  readonly isDate: boolean;
  readonly isEpoch: boolean;
  readonly updateTime: number;
}

export const tagCollection: Collection<TagRow> = {
  kind: "tags",
  rows: (tables) => tables.tags,
  entries: (tables) => tables.tagEntries,
  changesAccess: [],
  syncDependents: keepHistory,
};

/** Stores each new digest of a tag. Deletes them with the tag. */
async function keepHistory(tx: Transaction, before: TagRow | undefined, after: TagRow | undefined): Promise<void> {
  if (before && !after) await clearTagDigests(tx, before.uid);
  if (!after || after.digest === "" || after.digest === before?.digest) return;
  await addTagDigest(tx, after.uid, { time: after.updateTime, digest: after.digest });
}
