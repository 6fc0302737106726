// Finds repos and tags, and stores readmes.

import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { markImagesGone } from "../images/images.ts";
import type { Condition } from "../list/condition.ts";
import { and, eq, sql } from "../schema/drizzle.ts";

/** Earlier than the time of any row. */
const earliestTime = Number.MIN_SAFE_INTEGER;

/** Filters a list of tags. */
export interface TagFilter {
  readonly includeReferrers: boolean;
  readonly includeDates: boolean;
  readonly includeEpochs: boolean;
  /** Only tags set after this time, in milliseconds since the epoch. */
  readonly updatedSince: number | undefined;
  /** Only tags that are no longer updated; false if absent. */
  readonly deprecatedOnly?: boolean;
}

/** Returns the condition of a filter, or undefined if it matches all tags. */
export function tagCondition(filter: TagFilter): Condition | undefined {
  const { includeReferrers, includeDates, includeEpochs, updatedSince, deprecatedOnly = false } = filter;
  const isFilter = !includeReferrers || !includeDates || !includeEpochs || updatedSince !== undefined || deprecatedOnly;
  if (!isFilter) return undefined;
  const included = (name: string) => sql`${numberPlaceholder(name)} = 1`;
  return {
    name: "tags",
    build: ({ tables: { tags } }) => sql`(${included("referrers")} or not ${tags.isReferrer})
      and (${included("dates")} or not ${tags.isDate})
      and (${included("epochs")} or not ${tags.isEpoch})
      and (${included("current")} or ${tags.deprecated})
      and ${tags.updateTime} > ${numberPlaceholder("since")}`,
    values: {
      referrers: Number(includeReferrers),
      dates: Number(includeDates),
      epochs: Number(includeEpochs),
      current: Number(!deprecatedOnly),
      since: updatedSince ?? earliestTime,
    },
  };
}

/** Returns the repo with this name in a group, or undefined. */
export async function findRepoByName(session: Session, groupUid: string, name: string) {
  const statement = session.prepared("repos.by_name", (db, { repos }) =>
    db
      .select()
      .from(repos)
      .where(and(eq(repos.parent, sql.placeholder("groupUid")), eq(repos.name, sql.placeholder("name")))),
  );
  return (await statement.execute({ groupUid, name }))[0];
}

/** Returns the tag with this name in a repo, or undefined. */
export async function findTagByName(session: Session, repoUid: string, name: string) {
  const statement = session.prepared("tags.by_name", (db, { tags }) =>
    db
      .select()
      .from(tags)
      .where(and(eq(tags.parent, sql.placeholder("repoUid")), eq(tags.name, sql.placeholder("name")))),
  );
  return (await statement.execute({ repoUid, name }))[0];
}

/** Returns the tags of a repo, `limit` at most. */
export async function findTagsOf(session: Session, repoUid: string, limit: number) {
  const statement = session.prepared("tags.of_repo", (db, { tags }) =>
    db
      .select()
      .from(tags)
      .where(eq(tags.parent, sql.placeholder("repoUid")))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ repoUid, limit });
}

/** Returns the tags of a repo with this digest, `limit` at most. */
export async function findTagsByDigest(session: Session, repoUid: string, digest: string, limit: number) {
  const statement = session.prepared("tags.by_digest", (db, { tags }) =>
    db
      .select()
      .from(tags)
      .where(and(eq(tags.parent, sql.placeholder("repoUid")), eq(tags.digest, sql.placeholder("digest"))))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ repoUid, digest, limit });
}

/** Returns the readme of a repo; empty if there is none. */
export async function readReadme(session: Session, repoUid: string): Promise<string> {
  const statement = session.prepared("readmes.get", (db, { readmes }) =>
    db
      .select({ content: readmes.content })
      .from(readmes)
      .where(eq(readmes.repoUid, sql.placeholder("repoUid"))),
  );
  return (await statement.execute({ repoUid }))[0]?.content ?? "";
}

/** Returns the readmes of repos by repo uid, without those that have none. */
export async function findReadmes(session: Session, repoUids: readonly string[]): Promise<Map<string, string>> {
  const statement = session.prepared("readmes.of", (db, { readmes }) =>
    db
      .select()
      .from(readmes)
      .where(session.isAmong(readmes.repoUid, textPlaceholder("repoUids"))),
  );
  const found = await statement.execute({ repoUids: JSON.stringify(repoUids) });
  return new Map(found.map(({ repoUid, content }) => [repoUid, content]));
}

/** Stores the readme of a repo. */
export async function writeReadme(tx: Transaction, repoUid: string, content: string): Promise<void> {
  const statement = tx.prepared("readmes.set", (db, { readmes }) =>
    db
      .insert(readmes)
      .values({ repoUid: sql.placeholder("repoUid"), content: sql.placeholder("content") })
      .onConflictDoUpdate({ target: readmes.repoUid, set: { content: sql`excluded.content` } }),
  );
  await statement.execute({ repoUid, content });
}

/** Deletes the readme of a repo and the sizes of its images, and marks its images as deleted. */
export async function clearRepo(tx: Transaction, repoUid: string): Promise<void> {
  const readmes = tx.prepared("readmes.delete", (db, { readmes }) =>
    db.delete(readmes).where(eq(readmes.repoUid, sql.placeholder("repoUid"))),
  );
  const manifests = tx.prepared("manifests.delete", (db, { manifests }) =>
    db.delete(manifests).where(eq(manifests.repoUid, sql.placeholder("repoUid"))),
  );
  await readmes.execute({ repoUid });
  await manifests.execute({ repoUid });
  await markImagesGone(tx, repoUid);
}
