// Stores images: the manifests and indexes of repos whose contents are known or looked for.

import { insertMissingRows } from "../engine/insert-rows.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, lt, or, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** An image as it is stored. */
export type ImageRow = Tables["images"]["$inferSelect"];

/** The knowledge about the packages of an image. */
export const Contents = { unread: 0, none: 1, complete: 2, partial: 3 } as const;

/** A value of `Contents`. */
export type Contents = (typeof Contents)[keyof typeof Contents];

/** Returns the number of an image. Adds it if it is new, and revives it if its digest was deleted. */
export async function openImage(tx: Transaction, repoUid: string, digest: string): Promise<number> {
  const statement = tx.prepared("images.open", (db, { images }) =>
    db
      .insert(images)
      .values({
        repoUid: sql.placeholder("repoUid"),
        digest: sql.placeholder("digest"),
        architecture: "",
        contents: Contents.unread,
        createTime: sql.placeholder("time"),
      })
      .onConflictDoUpdate({ target: [images.repoUid, images.digest], set: { goneTime: null } })
      .returning({ no: images.no }),
  );
  return (await statement.execute({ repoUid, digest, time: tx.context.time }))[0]!.no;
}

/** Returns the numbers of images by digest. Adds new ones in the order of their digests: concurrent transactions then do not deadlock. */
export async function openImages(
  tx: Transaction,
  repoUid: string,
  digests: readonly string[],
): Promise<Map<string, number>> {
  const numbers = await findImageNumbers(tx, repoUid, digests);
  for (const digest of [...new Set(digests)].sort())
    if (!numbers.has(digest)) numbers.set(digest, await openImage(tx, repoUid, digest));
  return numbers;
}

/** Returns the numbers of images by digest, without those of unknown and deleted digests. */
export async function findImageNumbers(
  session: Session,
  repoUid: string,
  digests: readonly string[],
): Promise<Map<string, number>> {
  const statement = session.prepared("images.numbers", (db, { images }) =>
    db
      .select({ digest: images.digest, no: images.no })
      .from(images)
      .where(
        and(
          eq(images.repoUid, textPlaceholder("repoUid")),
          session.isAmong(images.digest, textPlaceholder("digests")),
          isNull(images.goneTime),
        ),
      ),
  );
  const rows = await statement.execute({ repoUid, digests: JSON.stringify(digests) });
  return new Map(rows.map(({ digest, no }) => [digest, no]));
}

/** Notes that an image was pushed at a time, or imported then. */
export async function setPushTime(tx: Transaction, no: number, time: number): Promise<void> {
  const statement = tx.prepared("images.set_push_time", (db, { images: { no: key, pushTime }, images }) =>
    db
      .update(images)
      .set({ pushTime: numberPlaceholder("time") })
      .where(and(eq(key, numberPlaceholder("no")), or(isNull(pushTime), lt(pushTime, numberPlaceholder("time"))))),
  );
  await statement.execute({ no, time });
}

/** Returns the image of a repo with this digest; undefined if there is none, or no more. */
export async function findImage(session: Session, repoUid: string, digest: string): Promise<ImageRow | undefined> {
  const statement = session.prepared("images.get", (db, { images }) =>
    db
      .select()
      .from(images)
      .where(
        and(
          eq(images.repoUid, textPlaceholder("repoUid")),
          eq(images.digest, textPlaceholder("digest")),
          isNull(images.goneTime),
        ),
      ),
  );
  return (await statement.execute({ repoUid, digest }))[0];
}

/** Returns the image with this number; undefined if there is none. */
export async function findImageByNumber(session: Session, no: number): Promise<ImageRow | undefined> {
  const statement = session.prepared("images.by_number", (db, { images }) =>
    db
      .select()
      .from(images)
      .where(eq(images.no, numberPlaceholder("no"))),
  );
  return (await statement.execute({ no }))[0];
}

/** Returns the platforms of an index, in the order of their numbers. */
export async function findChildren(session: Session, parent: number): Promise<ImageRow[]> {
  const statement = session.prepared("images.children", (db, { images, imageChildren }) =>
    db
      .select(getTableColumns(images))
      .from(imageChildren)
      .innerJoin(images, eq(images.no, imageChildren.child))
      .where(and(eq(imageChildren.parent, numberPlaceholder("parent")), isNull(images.goneTime)))
      .orderBy(asc(images.no)),
  );
  return await statement.execute({ parent });
}

/** Returns the indexes that a platform belongs to, in the order of their numbers. */
export async function findParents(session: Session, child: number): Promise<ImageRow[]> {
  const statement = session.prepared("images.parents", (db, { images, imageChildren }) =>
    db
      .select(getTableColumns(images))
      .from(imageChildren)
      .innerJoin(images, eq(images.no, imageChildren.parent))
      .where(and(eq(imageChildren.child, numberPlaceholder("child")), isNull(images.goneTime)))
      .orderBy(asc(images.no)),
  );
  return await statement.execute({ child });
}

/** Stores the platforms of an index. An index never changes, so none is removed. */
export async function addChildren(tx: Transaction, parent: number, children: readonly number[]): Promise<void> {
  const rows = [...new Set(children)].sort((a, b) => a - b).map((child) => ({ parent, child }));
  await insertMissingRows(tx, ({ imageChildren }) => imageChildren, rows);
}

/** Sets the architecture of an image. */
export async function setArchitecture(tx: Transaction, no: number, architecture: string): Promise<void> {
  const statement = tx.prepared("images.set_architecture", (db, { images }) =>
    db
      .update(images)
      .set({ architecture: sql`${sql.placeholder("architecture")}` })
      .where(eq(images.no, sql.placeholder("no"))),
  );
  await statement.execute({ no, architecture });
}

/** Stores that the SBOMs of an image were read. */
export async function setContents(tx: Transaction, no: number, contents: Contents): Promise<void> {
  const statement = tx.prepared("images.set_contents", (db, { images }) =>
    db
      .update(images)
      .set({ contents: sql`${sql.placeholder("contents")}`, readTime: sql`${sql.placeholder("time")}` })
      .where(eq(images.no, sql.placeholder("no"))),
  );
  await statement.execute({ no, contents, time: tx.context.time });
}

/**
 * Locks an image until the end of the transaction. Returns whether it is there: its rows may be deleted while it is being read, and what is
 * written afterwards would belong to no image.
 */
export async function lockImage(tx: Transaction, no: number): Promise<boolean> {
  const statement = tx.prepared("images.lock", (db, { images }) =>
    db
      .update(images)
      .set({ digest: sql`${images.digest}` })
      .where(eq(images.no, sql.placeholder("no")))
      .returning({ no: images.no }),
  );
  return (await statement.execute({ no })).length > 0;
}

/** Marks the image with a digest as deleted. The sweeper deletes its rows. */
export async function markImageGone(tx: Transaction, repoUid: string, digest: string): Promise<void> {
  const statement = tx.prepared("images.mark_gone", (db, { images }) =>
    db
      .update(images)
      .set({ goneTime: sql`${sql.placeholder("time")}` })
      .where(and(eq(images.repoUid, sql.placeholder("repoUid")), eq(images.digest, sql.placeholder("digest")))),
  );
  await statement.execute({ repoUid, digest, time: tx.context.time });
}

/** Marks all images of a repo as deleted. */
export async function markImagesGone(tx: Transaction, repoUid: string): Promise<void> {
  const statement = tx.prepared("images.mark_all_gone", (db, { images }) =>
    db
      .update(images)
      .set({ goneTime: sql`${sql.placeholder("time")}` })
      .where(eq(images.repoUid, sql.placeholder("repoUid"))),
  );
  await statement.execute({ repoUid, time: tx.context.time });
}

/** Returns the numbers of deleted images, oldest first. */
export async function findGoneImages(session: Session, limit: number): Promise<number[]> {
  const statement = session.prepared("images.gone", (db, { images }) =>
    db
      .select({ no: images.no })
      .from(images)
      .where(isNotNull(images.goneTime))
      .orderBy(asc(images.goneTime))
      .limit(limitOf("limit")),
  );
  return (await statement.execute({ limit })).map(({ no }) => no);
}

/** Returns the numbers of images behind one number, and whether their repo exists: an earlier release deletes repos without their images. */
export async function scanImages(session: Session, after: number, limit: number) {
  const statement = session.prepared("images.scan", (db, { images, repos }) =>
    db
      .select({
        no: images.no,
        repoUid: images.repoUid,
        digest: images.digest,
        goneTime: images.goneTime,
        repo: repos.uid,
      })
      .from(images)
      .leftJoin(repos, eq(repos.uid, images.repoUid))
      .where(gt(images.no, numberPlaceholder("after")))
      .orderBy(asc(images.no))
      .limit(limitOf("limit")),
  );
  const rows = await statement.execute({ after, limit });
  return rows.map(({ repo, goneTime, ...image }) => ({ ...image, isOrphan: repo === null, isGone: goneTime !== null }));
}
