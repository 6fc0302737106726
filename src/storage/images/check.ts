// Checks the tables of images: rows that belong to nothing, and numbers of packages that disagree with the SBOMs.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { DerivedTables } from "../collection/collection.ts";
import { limitOf, numberPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { and, asc, eq, gt, isNull, notExists, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { Contents, scanImages } from "./images.ts";
import { queueImage } from "./queue.ts";
import { removeImage } from "./removal.ts";

const pageSize = 1000;

/** A column with numbers of images or packages. */
interface Link {
  /** The table and the column, in findings. */
  readonly name: string;
  readonly find: (tables: Tables) => {
    readonly rows: PgTable;
    readonly column: PgColumn;
    readonly target: Tables["images"] | Tables["packages"];
  };
}

const links: readonly Link[] = [
  { name: "image_children.parent", find: (t) => linkOf(t.imageChildren, t.imageChildren.parent, t.images) },
  { name: "image_children.child", find: (t) => linkOf(t.imageChildren, t.imageChildren.child, t.images) },
  { name: "image_packages.image", find: (t) => linkOf(t.imagePackages, t.imagePackages.image, t.images) },
  { name: "image_packages.package", find: (t) => linkOf(t.imagePackages, t.imagePackages.package, t.packages) },
  { name: "image_sboms.image", find: (t) => linkOf(t.imageSboms, t.imageSboms.image, t.images) },
  { name: "image_queue.image", find: (t) => linkOf(t.imageQueue, t.imageQueue.image, t.images) },
  { name: "image_uses.image", find: (t) => linkOf(t.imageUses, t.imageUses.image, t.images) },
  { name: "package_keys.package", find: (t) => linkOf(t.packageKeys, t.packageKeys.package, t.packages) },
  { name: "package_findings.package", find: (t) => linkOf(t.packageFindings, t.packageFindings.package, t.packages) },
];

function linkOf(rows: PgTable, column: PgColumn, target: Tables["images"] | Tables["packages"]) {
  return { rows, column, target };
}

/** The tables of images. Repos are deleted without them by an earlier release, and images that were read differ from what is stored. */
export const imageTables: DerivedTables = {
  tables: (tables) => [
    ...new Set<PgTable>([tables.images, tables.packages, ...links.map(({ find }) => find(tables).rows)]),
  ],
  async *findings(session) {
    for await (const { repoUid, digest } of orphans(session))
      yield `images ${digest} of ${repoUid}: the repo does not exist`;
    for (const link of links)
      for (const number of await strays(session, link))
        yield `${link.name}: the row with the number ${number} does not exist`;
    for await (const { repoUid, digest, problem } of miscounted(session))
      yield `images ${digest} of ${repoUid}: ${problem}`;
  },
  async repair(tx) {
    let repaired = 0;
    for await (const { no } of orphans(tx)) {
      while (!(await removeImage(tx, no, pageSize)));
      repaired++;
    }
    for (const link of links) repaired += await removeStrays(tx, link);
    for await (const { no } of miscounted(tx)) {
      await queueImage(tx, no, tx.context.time);
      repaired++;
    }
    return repaired;
  },
};

/** Yields images whose repo does not exist and that are not marked as deleted: the sweeper deletes the others. */
async function* orphans(session: Session) {
  const read = (after: number) => scanImages(session, after, pageSize);
  for await (const page of scanTable(pageSize, 0, read, ({ no }) => no))
    for (const image of page) if (image.isOrphan && !image.isGone) yield image;
}

/** Returns the numbers in a column that no row of the target has, as many as a check reports. */
async function strays(session: Session, link: Link): Promise<number[]> {
  const statement = session.prepared(`${link.name}.check`, (db, tables) => {
    const { rows, column, target } = link.find(tables);
    const known = db.select({ no: target.no }).from(target).where(eq(target.no, column));
    return db
      .selectDistinct({ no: column })
      .from(rows)
      .where(notExists(known))
      .orderBy(asc(column))
      .limit(limitOf(pageSize + 1));
  });
  return (await statement.execute({})).map(({ no }) => Number(no));
}

async function removeStrays(tx: Transaction, link: Link): Promise<number> {
  const statement = tx.prepared(`${link.name}.repair`, (db, tables) => {
    const { rows, column, target } = link.find(tables);
    const known = db.select({ no: target.no }).from(target).where(eq(target.no, column));
    return db
      .delete(rows as PgTable)
      .where(notExists(known))
      .returning({ no: column });
  });
  return (await statement.execute({})).length;
}

/** The stored data of an image that was read: the numbers of its packages and SBOMs. */
interface Counted {
  readonly no: number;
  readonly repoUid: string;
  readonly digest: string;
  readonly contents: number;
  readonly packages: number;
  readonly sboms: number;
  readonly unreadable: number;
  /** The packages of the SBOM with the most, and of all SBOMs together. */
  readonly most: number;
  readonly all: number;
}

/** Yields images whose packages or state are not those of their SBOMs. Queued images may be half written, and are read again anyway. */
async function* miscounted(session: Session): AsyncGenerator<Counted & { readonly problem: string }> {
  const statement = session.prepared("images.check.counts", (db, tables) => {
    const { images, imagePackages, imageQueue, imageSboms } = tables;
    const number = (value: ReturnType<typeof sql>) => sql<number>`(select ${value})`.mapWith(Number);
    const ofSboms = (what: ReturnType<typeof sql>) =>
      number(sql`${what} from ${imageSboms} where ${imageSboms.image} = ${images.no}`);
    const queued = db.select({ image: imageQueue.image }).from(imageQueue).where(eq(imageQueue.image, images.no));
    return db
      .select({
        no: images.no,
        repoUid: images.repoUid,
        digest: images.digest,
        contents: images.contents,
        packages: number(sql`count(*) from ${imagePackages} where ${imagePackages.image} = ${images.no}`),
        sboms: ofSboms(sql`count(*)`),
        unreadable: ofSboms(sql`coalesce(sum(case when ${imageSboms.error} = '' then 0 else 1 end), 0)`),
        most: ofSboms(sql`coalesce(max(${imageSboms.packages}), 0)`),
        all: ofSboms(sql`coalesce(sum(${imageSboms.packages}), 0)`),
      })
      .from(images)
      .where(and(gt(images.no, numberPlaceholder("after")), isNull(images.goneTime), notExists(queued)))
      .orderBy(asc(images.no))
      .limit(limitOf(pageSize));
  });
  const read = (after: number) => statement.execute({ after });
  for await (const page of scanTable(pageSize, 0, read, ({ no }) => no))
    for (const image of page) {
      const problem = problemOf(image);
      if (problem !== undefined) yield { ...image, problem };
    }
}

function problemOf({ contents, packages, sboms, unreadable, most, all }: Counted): string | undefined {
  if (packages < most || packages > all)
    return `${packages} packages are stored, but its SBOMs name ${most === all ? all : `${most} to ${all}`}`;
  const hasPackages = contents === Contents.complete || contents === Contents.partial;
  const expected = unreadable > 0 ? Contents.partial : Contents.complete;
  if (sboms === 0 ? hasPackages : contents !== expected) return `its state is not that of its ${sboms} SBOMs`;
  return undefined;
}
