// Stores which images are to be read, and when.
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, isNull, lte, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { Contents } from "./images.ts";

/** An image whose SBOMs are to be read. */
export type QueuedImage = Tables["imageQueue"]["$inferSelect"];

/** Queues an image from a time on, also one whose attempts have all failed. */
export async function queueImage(tx: Transaction, image: number, dueTime: number): Promise<void> {
  const statement = tx.prepared("image_queue.put", (db, { imageQueue }) =>
    db
      .insert(imageQueue)
      .values({ image: sql.placeholder("image"), dueTime: sql.placeholder("dueTime"), attempts: 0, error: "" })
      .onConflictDoUpdate({
        target: imageQueue.image,
        set: { dueTime: sql`excluded.due_time`, attempts: sql`0` },
      }),
  );
  await statement.execute({ image, dueTime });
}

/** Queues the images of a repo that have SBOMs in the registry. */
export async function queueImagesWithSboms(tx: Transaction, repoUid: string, limit: number): Promise<void> {
  const statement = tx.prepared("image_queue.with_sboms", (db, { images, imageSboms }) =>
    db
      .selectDistinct({ no: images.no })
      .from(images)
      .innerJoin(imageSboms, eq(imageSboms.image, images.no))
      .where(and(eq(images.repoUid, textPlaceholder("repoUid")), isNull(imageSboms.content)))
      .orderBy(asc(images.no))
      .limit(limitOf("limit")),
  );
  for (const { no } of await statement.execute({ repoUid, limit })) await queueImage(tx, no, tx.context.time);
}

/** Queues those of the images of a repo that have no packages yet, and are not queued. */
export async function queueUnread(tx: Transaction, repoUid: string, digests: readonly string[]): Promise<void> {
  const statement = tx.prepared("image_queue.unread", (db, { images, imageQueue }) =>
    db
      .select({ no: images.no })
      .from(images)
      .leftJoin(imageQueue, eq(imageQueue.image, images.no))
      .where(
        and(
          eq(images.repoUid, textPlaceholder("repoUid")),
          tx.isAmong(images.digest, textPlaceholder("digests")),
          lte(images.contents, Contents.none),
          isNull(imageQueue.dueTime),
        ),
      )
      .orderBy(asc(images.no)),
  );
  const rows = await statement.execute({ repoUid, digests: JSON.stringify(digests) });
  for (const { no } of rows) await queueImage(tx, no, tx.context.time);
}

/** Returns the images that are due, in the order of their times. */
export async function findDueImages(session: Session, time: number, limit: number): Promise<QueuedImage[]> {
  const statement = session.prepared("image_queue.due", (db, { imageQueue }) =>
    db
      .select()
      .from(imageQueue)
      .where(lte(imageQueue.dueTime, numberPlaceholder("time")))
      .orderBy(asc(imageQueue.dueTime), asc(imageQueue.image))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ time, limit });
}

/** Returns the entry of an image; undefined if there is none. */
export async function findQueued(session: Session, image: number): Promise<QueuedImage | undefined> {
  const statement = session.prepared("image_queue.get", (db, { imageQueue }) =>
    db
      .select()
      .from(imageQueue)
      .where(eq(imageQueue.image, numberPlaceholder("image"))),
  );
  return (await statement.execute({ image }))[0];
}

/** Stores the outcome of a failed attempt, unless the image was queued again since. Without a time there is no other attempt. */
export async function postponeImage(tx: Transaction, before: QueuedImage, after: Omit<QueuedImage, "image">) {
  const statement = tx.prepared("image_queue.postpone", (db, { imageQueue }) =>
    db
      .update(imageQueue)
      .set({
        dueTime: sql`${sql.placeholder("dueTime")}`,
        attempts: sql`${sql.placeholder("attempts")}`,
        error: sql`${sql.placeholder("error")}`,
      })
      .where(isUnchanged(imageQueue)),
  );
  await statement.execute({ ...after, image: before.image, knownDue: before.dueTime });
}

/** Removes an image that was read, unless it was queued again since. */
export async function unqueueImage(tx: Transaction, { image, dueTime }: QueuedImage): Promise<void> {
  const statement = tx.prepared("image_queue.remove", (db, { imageQueue }) =>
    db.delete(imageQueue).where(isUnchanged(imageQueue)),
  );
  await statement.execute({ image, knownDue: dueTime });
}

function isUnchanged({ image, dueTime }: Tables["imageQueue"]) {
  return sql`${image} = ${numberPlaceholder("image")} and ${dueTime} = ${numberPlaceholder("knownDue")}`;
}
