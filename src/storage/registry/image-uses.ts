// Stores who used images and tags. The change log has no entries of it.
import { hourMs } from "../../base/clock.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { keepRow } from "../collection/rows.ts";
import { limitOf, numberPlaceholder, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Transaction } from "../engine/session.ts";
import { openImages } from "../images/images.ts";
import { asc, lte, sql } from "../schema/drizzle.ts";
import { repoCollection } from "./rows.ts";

/** The kinds of uses as they are stored. */
export const UseKind = { pull: 0, check: 1 } as const;

/** Uses of one image in one hour. */
export interface CountedUse {
  readonly repoUid: string;
  readonly digest: string;
  /** The tag by which it was used; empty if by digest. */
  readonly tag: string;
  /** Hours since the epoch. */
  readonly hour: number;
  /** As `image_uses` has it. */
  readonly actor: string;
  readonly kind: number;
  readonly count: number;
}

/** A row of `image_uses`. */
type UseRow = Pick<CountedUse, "hour" | "actor" | "kind" | "count"> & { readonly image: number };

/**
 * Adds to the uses of images, and sets the last uses of tags. Uses in repos that are deleted are left out. All rows are written in the
 * order of their keys: concurrent transactions then do not deadlock. Returns the uids of the repos, in order.
 */
export async function storeImageUses(tx: Transaction, uses: readonly CountedUse[]): Promise<string[]> {
  const repoUids: string[] = [];
  const byRepo = Map.groupBy(uses, ({ repoUid }) => repoUid);
  // Otherwise a repo that is deleted now would leave images.
  for (const repoUid of [...byRepo.keys()].sort())
    if (await keepRow(tx, repoCollection, repoUid)) repoUids.push(repoUid);
  const kept = repoUids.flatMap((repoUid) => byRepo.get(repoUid)!);
  await addUses(tx, await rowsOf(tx, kept));
  await setTagUses(tx, kept);
  return repoUids;
}

/** Returns one row for each key, in the order of the keys. */
async function rowsOf(tx: Transaction, uses: readonly CountedUse[]): Promise<UseRow[]> {
  const rows = new Map<string, UseRow>();
  for (const [repoUid, ofRepo] of Map.groupBy(uses, (use) => use.repoUid)) {
    const numbers = await openImages(
      tx,
      repoUid,
      ofRepo.map(({ digest }) => digest),
    );
    for (const { digest, hour, actor, kind, count } of ofRepo) {
      const image = numbers.get(digest)!;
      const key = JSON.stringify([image, hour, actor, kind]);
      rows.set(key, { image, hour, actor, kind, count: count + (rows.get(key)?.count ?? 0) });
    }
  }
  return [...rows.values()].sort(
    (a, b) => a.image - b.image || a.hour - b.hour || compareTexts(a.actor, b.actor) || a.kind - b.kind,
  );
}

async function addUses(tx: Transaction, rows: readonly UseRow[]): Promise<void> {
  const statement = tx.prepared("image_uses.add", (db, { imageUses }) =>
    db
      .insert(imageUses)
      .values(rowPlaceholders(["image", "hour", "actor", "kind", "count"]))
      .onConflictDoUpdate({
        target: [imageUses.image, imageUses.hour, imageUses.actor, imageUses.kind],
        set: { count: sql`${imageUses.count} + excluded.count` },
      }),
  );
  if (tx.isRemote) await Promise.all(rows.map((row) => statement.execute({ ...row })));
  else for (const row of rows) await statement.execute({ ...row });
}

async function setTagUses(tx: Transaction, uses: readonly CountedUse[]): Promise<void> {
  const statement = tx.prepared("tag_uses.set", (db, { tagUses, tags }) =>
    db
      .insert(tagUses)
      .select(
        sql`select ${tags.uid}, ${numberPlaceholder("kind")}, ${numberPlaceholder("hour")} from ${tags}
          where ${tags.parent} = ${textPlaceholder("repoUid")} and ${tags.name} = ${textPlaceholder("tag")}`,
      )
      .onConflictDoUpdate({
        target: [tagUses.tagUid, tagUses.kind],
        set: { hour: sql`excluded.hour` },
        setWhere: sql`excluded.hour > ${tagUses.hour}`,
      }),
  );
  for (const { repoUid, tag, kind, hour } of latestByTag(uses)) await statement.execute({ repoUid, tag, kind, hour });
}

/** Returns the last use of each kind by each tag, in the order of repo, tag and kind. */
function latestByTag(uses: readonly CountedUse[]): CountedUse[] {
  const latest = new Map<string, CountedUse>();
  for (const use of uses) {
    const key = JSON.stringify([use.repoUid, use.tag, use.kind]);
    if (use.tag !== "" && use.hour > (latest.get(key)?.hour ?? Number.NEGATIVE_INFINITY)) latest.set(key, use);
  }
  return [...latest.values()].sort(
    (a, b) => compareTexts(a.repoUid, b.repoUid) || compareTexts(a.tag, b.tag) || a.kind - b.kind,
  );
}

/** Deletes uses of hours that began at or before a time, up to `batchSize` of images and of tags. Returns whether none are left. */
export async function removeImageUses(tx: Transaction, time: number, batchSize: number): Promise<boolean> {
  const ofImages = tx.prepared("image_uses.sweep", (db, { imageUses: { image, hour, actor, kind }, imageUses }) => {
    const old = db
      .select({ image, hour, actor, kind })
      .from(imageUses)
      .where(lte(hour, numberPlaceholder("hour")))
      .orderBy(asc(hour))
      .limit(limitOf("batchSize"));
    return db.delete(imageUses).where(sql`(${image}, ${hour}, ${actor}, ${kind}) in (${old})`).returning({ hour });
  });
  const ofTags = tx.prepared("tag_uses.sweep", (db, { tagUses: { tagUid, kind, hour }, tagUses }) => {
    const old = db
      .select({ tagUid, kind })
      .from(tagUses)
      .where(lte(hour, numberPlaceholder("hour")))
      .orderBy(asc(hour))
      .limit(limitOf("batchSize"));
    return db.delete(tagUses).where(sql`(${tagUid}, ${kind}) in (${old})`).returning({ hour });
  });
  const values = { hour: Math.floor(time / hourMs), batchSize };
  const removed = [await ofImages.execute(values), await ofTags.execute(values)];
  return removed.every((rows) => rows.length < batchSize);
}
