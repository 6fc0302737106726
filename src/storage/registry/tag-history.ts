// Stores the digests that a tag has had.

import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, desc, eq, gte, lte, sql } from "../schema/drizzle.ts";

/** A digest, and when the tag was set to it, in milliseconds since the epoch. */
export interface TagDigest {
  readonly time: number;
  readonly digest: string;
}

/** Stores that a tag was set to a digest. Of two at the same time, the later one stays. */
export async function addTagDigest(tx: Transaction, tagUid: string, { time, digest }: TagDigest): Promise<void> {
  const statement = tx.prepared("tag_history.add", (db, { tagHistory }) =>
    db
      .insert(tagHistory)
      .values({ tagUid: sql.placeholder("tagUid"), time: sql.placeholder("time"), digest: sql.placeholder("digest") })
      .onConflictDoUpdate({
        target: [tagHistory.tagUid, tagHistory.time],
        set: { digest: sql`excluded.digest` },
      }),
  );
  await statement.execute({ tagUid, time, digest });
}

/** Deletes the digests of a tag. */
export async function clearTagDigests(tx: Transaction, tagUid: string): Promise<void> {
  const statement = tx.prepared("tag_history.clear", (db, { tagHistory }) =>
    db.delete(tagHistory).where(eq(tagHistory.tagUid, sql.placeholder("tagUid"))),
  );
  await statement.execute({ tagUid });
}

/** Returns the digests that a tag was set to between two times, inclusive: the latest `limit`, oldest first. */
export async function findTagDigests(
  session: Session,
  tagUid: string,
  range: { readonly start: number; readonly end: number; readonly limit: number },
): Promise<TagDigest[]> {
  const statement = session.prepared("tag_history.between", (db, { tagHistory }) =>
    db
      .select({ time: tagHistory.time, digest: tagHistory.digest })
      .from(tagHistory)
      .where(
        and(
          eq(tagHistory.tagUid, textPlaceholder("tagUid")),
          gte(tagHistory.time, sql.placeholder("start")),
          lte(tagHistory.time, sql.placeholder("end")),
        ),
      )
      .orderBy(desc(tagHistory.time))
      .limit(limitOf("limit")),
  );
  return [...(await statement.execute({ tagUid, ...range }))].reverse();
}
