// Deletes what is stored of deleted images, and packages that no image has, in portions.
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, gt, inArray, notExists, or, sql } from "../schema/drizzle.ts";
import { findGoneImages, lockImage } from "./images.ts";
import { keepPackages } from "./packages.ts";

/** How many deleted images one transaction deletes. */
const imagesAtOnce = 20;

/** Deletes rows of deleted images. Returns whether none are left. */
export async function removeGoneImages(tx: Transaction, limit: number): Promise<boolean> {
  const images = await findGoneImages(tx, imagesAtOnce);
  for (const image of images) if (!(await removeImage(tx, image, limit))) return false;
  return images.length < imagesAtOnce;
}

/**
 * Deletes rows of an image, a limited number of its packages and uses. Returns whether all are deleted, the image itself last.
 */
export async function removeImage(tx: Transaction, image: number, limit: number): Promise<boolean> {
  // Rows that other transactions write about it are then deleted, too.
  await lockImage(tx, image);
  if ((await deletePackagesOf(tx, image, limit)) === limit || (await deleteUsesOf(tx, image, limit)) === limit)
    return false;
  const others = [
    tx.prepared("image_sboms.sweep", (db, { imageSboms }) =>
      db.delete(imageSboms).where(eq(imageSboms.image, numberPlaceholder("image"))),
    ),
    tx.prepared("image_queue.sweep", (db, { imageQueue }) =>
      db.delete(imageQueue).where(eq(imageQueue.image, numberPlaceholder("image"))),
    ),
    tx.prepared("image_children.sweep", (db, { imageChildren }) =>
      db
        .delete(imageChildren)
        .where(
          or(eq(imageChildren.parent, numberPlaceholder("image")), eq(imageChildren.child, numberPlaceholder("image"))),
        ),
    ),
    tx.prepared("images.sweep", (db, { images }) => db.delete(images).where(eq(images.no, numberPlaceholder("image")))),
  ];
  for (const statement of others) await statement.execute({ image });
  return true;
}

async function deletePackagesOf(tx: Transaction, image: number, limit: number): Promise<number> {
  const statement = tx.prepared("image_packages.sweep", (db, { imagePackages }) => {
    const few = db
      .select({ package: imagePackages.package })
      .from(imagePackages)
      .where(eq(imagePackages.image, numberPlaceholder("image")))
      .limit(limitOf("limit"));
    return db
      .delete(imagePackages)
      .where(and(eq(imagePackages.image, numberPlaceholder("image")), inArray(imagePackages.package, few)))
      .returning({ package: imagePackages.package });
  });
  const deleted = (await statement.execute({ image, limit })).map((row) => row.package);
  await removeUnusedPackages(tx, deleted);
  return deleted.length;
}

async function deleteUsesOf(tx: Transaction, image: number, limit: number): Promise<number> {
  const statement = tx.prepared(
    "image_uses.sweep_of_image",
    (db, { imageUses: { image: of, hour, actor, kind }, imageUses }) => {
      const few = db
        .select({ of, hour, actor, kind })
        .from(imageUses)
        .where(eq(of, numberPlaceholder("image")))
        .limit(limitOf("limit"));
      return db.delete(imageUses).where(sql`(${of}, ${hour}, ${actor}, ${kind}) in (${few})`).returning({ hour });
    },
  );
  return (await statement.execute({ image, limit })).length;
}

/** Returns the numbers of packages behind one number, and whether an image has them. */
export async function scanPackages(session: Session, after: number, limit: number) {
  const statement = session.prepared("packages.scan", (db, { packages, imagePackages }) => {
    const isUsed = sql<number>`case when exists (select 1 from ${imagePackages}
      where ${imagePackages.package} = ${packages.no}) then 1 else 0 end`;
    return db
      .select({ no: packages.no, isUsed })
      .from(packages)
      .where(gt(packages.no, numberPlaceholder("after")))
      .orderBy(asc(packages.no))
      .limit(limitOf("limit"));
  });
  const rows = await statement.execute({ after, limit });
  return rows.map(({ no, isUsed }) => ({ no, isUsed: Number(isUsed) === 1 }));
}

/** Deletes those of the packages that no image has, with their keys and findings. Returns how many. */
export async function removeUnusedPackages(tx: Transaction, packages: readonly number[]): Promise<number> {
  const list = JSON.stringify(packages);
  // Locks them first. A concurrent transaction may have given one of them an image, which only a later statement sees (PostgreSQL).
  await keepPackages(tx, packages);
  const remove = tx.prepared("packages.remove_unused", (db, { packages: rows, imagePackages }) =>
    db
      .delete(rows)
      .where(
        and(
          tx.isAmongNumbers(rows.no, textPlaceholder("list")),
          notExists(
            db.select({ image: imagePackages.image }).from(imagePackages).where(eq(imagePackages.package, rows.no)),
          ),
        ),
      )
      .returning({ no: rows.no }),
  );
  const removed = (await remove.execute({ list })).map(({ no }) => no);
  const gone = JSON.stringify(removed);
  const keys = tx.prepared("package_keys.sweep", (db, { packageKeys }) =>
    db.delete(packageKeys).where(tx.isAmongNumbers(packageKeys.package, textPlaceholder("gone"))),
  );
  const findings = tx.prepared("package_findings.sweep", (db, { packageFindings }) =>
    db.delete(packageFindings).where(tx.isAmongNumbers(packageFindings.package, textPlaceholder("gone"))),
  );
  await keys.execute({ gone });
  await findings.execute({ gone });
  return removed.length;
}
