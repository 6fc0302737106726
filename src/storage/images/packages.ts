// Stores the packages of an organization, and which images have them. A package is stored once, however many images have it.
import { insertMissingRows } from "../engine/insert-rows.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, gt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** A package as it is stored. */
export type PackageRow = Tables["packages"]["$inferSelect"];

/** A package of an SBOM. */
export interface NewPackage {
  readonly purl: string;
  /** The hashes of the keys by which advisories name it. */
  readonly keys: readonly number[];
}

/** A package of an image. */
export interface ImagePackage {
  readonly no: number;
  readonly purl: string;
  /** The kinds of SBOMs that name it: bits. */
  readonly sources: number;
}

/**
 * Returns the numbers of packages of an organization, and adds those that are new. It locks them until the end of the
 * transaction, in an order that is always the same: then the sweeper cannot delete one that gets an image.
 */
export async function openPackages(
  tx: Transaction,
  organization: string,
  wanted: readonly NewPackage[],
): Promise<Map<string, number>> {
  const statement = tx.prepared("packages.open", (db, { packages }) =>
    db
      .insert(packages)
      .values({ organization: sql.placeholder("organization"), purl: sql.placeholder("purl"), evaluator: 0 })
      .onConflictDoUpdate({ target: [packages.organization, packages.purl], set: { purl: sql`excluded.purl` } })
      .returning({ no: packages.no }),
  );
  const numbers = new Map<string, number>();
  const open = async (purl: string) => {
    numbers.set(purl, (await statement.execute({ organization, purl }))[0]!.no);
  };
  const purls = [...new Set(wanted.map(({ purl }) => purl))].sort();
  if (tx.isRemote) await Promise.all(purls.map(open));
  else for (const purl of purls) await open(purl);
  await addPackageKeys(
    tx,
    wanted.map(({ purl, keys }) => ({ no: numbers.get(purl)!, keys })),
  );
  return numbers;
}

/** Adds keys of packages. */
export async function addPackageKeys(
  tx: Transaction,
  packages: readonly { readonly no: number; readonly keys: readonly number[] }[],
): Promise<void> {
  const rows = packages.flatMap(({ no, keys }) => [...new Set(keys)].map((key) => ({ key, package: no })));
  rows.sort((a, b) => a.key - b.key || a.package - b.package);
  await insertMissingRows(tx, ({ packageKeys }) => packageKeys, rows);
}

/** Stores that an image has packages, by kinds of SBOMs besides those that are stored. */
export async function addImagePackages(
  tx: Transaction,
  image: number,
  sources: number,
  packages: readonly number[],
): Promise<void> {
  const statement = tx.prepared("image_packages.add", (db, { imagePackages }) =>
    db
      .insert(imagePackages)
      .select(
        sql`select ${numberPlaceholder("image")}, cast(value as bigint), ${numberPlaceholder("sources")}
          from ${tx.textsOf(textPlaceholder("packages"))} where true`,
      )
      .onConflictDoUpdate({
        target: [imagePackages.image, imagePackages.package],
        set: { sources: sql`${imagePackages.sources} | excluded.sources` },
      }),
  );
  const sorted = [...new Set(packages)].sort((a, b) => a - b);
  await statement.execute({ image, sources, packages: JSON.stringify(sorted) });
}

/** Stores that kinds of SBOMs no longer name packages of an image. A package that none names is no longer one of the image. */
export async function removeImagePackages(
  tx: Transaction,
  image: number,
  sources: number,
  packages: readonly number[],
): Promise<void> {
  const values = { image, sources, packages: JSON.stringify(packages) };
  const clear = tx.prepared("image_packages.clear", (db, { imagePackages }) =>
    db
      .update(imagePackages)
      .set({ sources: sql`${imagePackages.sources} & ~${numberPlaceholder("sources")}` })
      .where(
        and(
          eq(imagePackages.image, numberPlaceholder("image")),
          tx.isAmongNumbers(imagePackages.package, textPlaceholder("packages")),
        ),
      ),
  );
  const remove = tx.prepared("image_packages.remove", (db, { imagePackages }) =>
    db
      .delete(imagePackages)
      .where(
        and(
          eq(imagePackages.image, numberPlaceholder("image")),
          tx.isAmongNumbers(imagePackages.package, textPlaceholder("packages")),
          eq(imagePackages.sources, sql`0`),
        ),
      ),
  );
  await clear.execute(values);
  await remove.execute({ image, packages: values.packages });
}

/** Returns packages of an image in the order of their numbers, behind one number. */
export async function readImagePackages(
  session: Session,
  image: number,
  after: number,
  limit: number,
): Promise<ImagePackage[]> {
  const statement = session.prepared("image_packages.of", (db, { imagePackages, packages }) =>
    db
      .select({ no: packages.no, purl: packages.purl, sources: imagePackages.sources })
      .from(imagePackages)
      .innerJoin(packages, eq(packages.no, imagePackages.package))
      .where(
        and(eq(imagePackages.image, numberPlaceholder("image")), gt(imagePackages.package, numberPlaceholder("after"))),
      )
      .orderBy(asc(imagePackages.package))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ image, after, limit });
}

/** Returns a page of the packages of images in the order of their package URLs, each once, behind one package URL. */
export async function listPackagesOf(
  session: Session,
  images: readonly number[],
  after: string,
  limit: number,
): Promise<Pick<ImagePackage, "purl" | "sources">[]> {
  const statement = session.prepared("image_packages.list", (db, { imagePackages, packages }) =>
    db
      .select({ purl: packages.purl, sources: sql<string>`string_agg(${imagePackages.sources} || '', ',')` })
      .from(imagePackages)
      .innerJoin(packages, eq(packages.no, imagePackages.package))
      .where(
        and(
          session.isAmongNumbers(imagePackages.image, textPlaceholder("images")),
          gt(packages.purl, textPlaceholder("after")),
        ),
      )
      .groupBy(packages.purl)
      .orderBy(asc(packages.purl))
      .limit(limitOf("limit")),
  );
  const rows = await statement.execute({ images: JSON.stringify(images), after, limit });
  return rows.map(({ purl, sources }) => ({ purl, sources: anyBitOf(sources) }));
}

function anyBitOf(list: string): number {
  return list.split(",").reduce((bits, text) => bits | Number(text), 0);
}

/** Returns how many packages images have together. */
export async function countPackagesOf(session: Session, images: readonly number[]): Promise<number> {
  const statement = session.prepared("image_packages.count", (db, { imagePackages }) =>
    db
      .select({ packages: sql<number>`count(distinct ${imagePackages.package})`.mapWith(Number) })
      .from(imagePackages)
      .where(session.isAmongNumbers(imagePackages.image, textPlaceholder("images"))),
  );
  return (await statement.execute({ images: JSON.stringify(images) }))[0]!.packages;
}

/** Locks packages until the end of the transaction. No other transaction deletes a locked package. Returns the numbers of those that exist. */
export async function keepPackages(tx: Transaction, packages: readonly number[]): Promise<ReadonlySet<number>> {
  const statement = tx.prepared("packages.keep", (db, { packages: rows }) =>
    db
      .update(rows)
      .set({ purl: sql`${rows.purl}` })
      .where(tx.isAmongNumbers(rows.no, textPlaceholder("list")))
      .returning({ no: rows.no }),
  );
  return new Set((await statement.execute({ list: JSON.stringify(packages) })).map(({ no }) => no));
}
