// Stores what advisories say about packages: once for each pair, however many images have the package.
import { limitOf, numberPlaceholder, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, gt, isNull, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import type { PackageRow } from "./packages.ts";

/** A finding as it is stored. */
export type FindingRow = Tables["packageFindings"]["$inferSelect"];

const columns = [
  "package",
  "advisoryUid",
  "groupUid",
  "status",
  "vulnerability",
  "fixedVersions",
  "uncertain",
  "justification",
  "firstKnownTime",
] as const satisfies readonly (keyof FindingRow)[];

/** Stores a finding. The time at which it was first known stays. */
export async function putFinding(tx: Transaction, row: FindingRow): Promise<void> {
  const statement = tx.prepared("package_findings.put", (db, { packageFindings: rows }) =>
    db
      .insert(rows)
      .values(rowPlaceholders(columns) as never)
      .onConflictDoUpdate({
        target: [rows.package, rows.advisoryUid],
        set: {
          status: sql`excluded.status`,
          vulnerability: sql`excluded.vulnerability`,
          fixedVersions: sql`excluded.fixed_versions`,
          uncertain: sql`excluded.uncertain`,
          justification: sql`excluded.justification`,
        },
      }),
  );
  await statement.execute({ ...row });
}

/** Deletes the finding of a package and an advisory. */
export async function deleteFinding(tx: Transaction, packageNumber: number, advisoryUid: string): Promise<void> {
  const statement = tx.prepared("package_findings.delete", (db, { packageFindings: rows }) =>
    db
      .delete(rows)
      .where(and(eq(rows.package, sql.placeholder("package")), eq(rows.advisoryUid, sql.placeholder("advisoryUid")))),
  );
  await statement.execute({ package: packageNumber, advisoryUid });
}

/** Returns the uids of the advisories that a package has findings of. */
export async function findAdvisoriesOf(session: Session, packageNumber: number): Promise<string[]> {
  const statement = session.prepared("package_findings.advisories", (db, { packageFindings: rows }) =>
    db
      .select({ uid: rows.advisoryUid })
      .from(rows)
      .where(eq(rows.package, numberPlaceholder("package"))),
  );
  return (await statement.execute({ package: packageNumber })).map(({ uid }) => uid);
}

/** Returns packages that were not compared with advisories by this version of the evaluator, in the order of their numbers. */
export async function findUnevaluated(session: Session, evaluator: number, limit: number): Promise<PackageRow[]> {
  const statement = session.prepared("packages.unevaluated", (db, { packages }) =>
    db
      .select()
      .from(packages)
      .where(lt(packages.evaluator, numberPlaceholder("evaluator")))
      .orderBy(asc(packages.evaluator), asc(packages.no))
      .limit(limitOf("limit")),
  );
  return await statement.execute({ evaluator, limit });
}

/** Stores by which version of the evaluator a package was compared with advisories. Returns whether the package is still there. */
export async function setEvaluator(tx: Transaction, no: number, evaluator: number): Promise<boolean> {
  const statement = tx.prepared("packages.set_evaluator", (db, { packages }) =>
    db
      .update(packages)
      .set({ evaluator: sql`${sql.placeholder("evaluator")}` })
      .where(eq(packages.no, sql.placeholder("no")))
      .returning({ no: packages.no }),
  );
  return (await statement.execute({ no, evaluator })).length > 0;
}

/** Lets all packages be compared with advisories again. */
export async function clearEvaluators(tx: Transaction): Promise<void> {
  const statement = tx.prepared("packages.clear_evaluators", (db, { packages }) =>
    db
      .update(packages)
      .set({ evaluator: 0 })
      .where(gt(packages.evaluator, sql.raw("0"))),
  );
  await statement.execute();
}

/** Returns the packages with a finding of an advisory, or with one of these keys, behind a number, in the order of their numbers. */
export async function findPackagesFor(
  session: Session,
  { advisoryUid, keys, after, limit }: { advisoryUid: string; keys: readonly number[]; after: number; limit: number },
): Promise<PackageRow[]> {
  const statement = session.prepared("packages.for_advisory", (db, { packages, packageKeys, packageFindings }) => {
    const found = db
      .select({ no: packageFindings.package })
      .from(packageFindings)
      .where(eq(packageFindings.advisoryUid, textPlaceholder("advisoryUid")))
      .union(
        db
          .select({ no: packageKeys.package })
          .from(packageKeys)
          .where(session.isAmongNumbers(packageKeys.key, textPlaceholder("keys"))),
      );
    return db
      .select()
      .from(packages)
      .where(and(sql`${packages.no} in (${found})`, gt(packages.no, numberPlaceholder("after"))))
      .orderBy(asc(packages.no))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ advisoryUid, keys: JSON.stringify(keys), after, limit });
}

/** Returns whether a package of images was not compared with advisories by this version of the evaluator. */
export async function hasUnevaluated(session: Session, images: readonly number[], evaluator: number): Promise<boolean> {
  const statement = session.prepared("image_packages.unevaluated", (db, { imagePackages, packages }) =>
    db
      .select({ no: packages.no })
      .from(imagePackages)
      .innerJoin(packages, eq(packages.no, imagePackages.package))
      .where(
        and(
          session.isAmongNumbers(imagePackages.image, textPlaceholder("images")),
          lt(packages.evaluator, numberPlaceholder("evaluator")),
        ),
      )
      .limit(limitOf(1)),
  );
  return (await statement.execute({ images: JSON.stringify(images), evaluator })).length > 0;
}

/** A finding of an image. */
export interface ImageFindingRow {
  readonly advisoryUid: string;
  readonly advisoryId: string;
  readonly aliases: readonly string[];
  /** The highest base score in tenths; -1 without one. */
  readonly score: number;
  readonly vulnerability: string;
  readonly purl: string;
  readonly status: number;
  readonly fixedVersions: readonly string[];
  readonly uncertain: boolean;
  readonly justification: string;
  readonly firstKnownTime: number;
  /** The numbers of the images that have the package. */
  readonly images: readonly number[];
}

/** The position of a finding in their order: by score from the highest on, vulnerability, package URL and advisory. */
export type FindingPlace = readonly [minusScore: number, vulnerability: string, purl: string, advisoryUid: string];

/** Selects findings of images. */
export interface FindingFilter {
  readonly images: readonly number[];
  /** The groups whose advisories apply. */
  readonly groups: readonly string[];
  readonly statuses: readonly number[];
  /** The lowest score, in tenths; -1 for all. */
  readonly minScore: number;
  /** Only findings with a version that is fixed. */
  readonly fixable: boolean;
  /** Only this package URL, with or without its version; empty for all. */
  readonly package: string;
}

/** Returns a page of the findings of images, in their order, each package and advisory once. */
export async function listFindings(
  session: Session,
  filter: FindingFilter,
  after: FindingPlace | undefined,
  limit: number,
): Promise<ImageFindingRow[]> {
  const statement = session.prepared(
    "package_findings.of_images",
    (db, { imagePackages, packages, packageFindings: found, advisories }) => {
      const score = sql<number>`coalesce(${advisories.score}, -1)`.mapWith(Number);
      const place = sql`(-coalesce(${advisories.score}, -1), ${found.vulnerability}, ${packages.purl}, ${advisories.uid})`;
      const isAfter = sql`${place} > (${numberPlaceholder("score")}, ${textPlaceholder("vulnerability")},
        ${textPlaceholder("purl")}, ${textPlaceholder("uid")})`;
      return db
        .select({
          advisoryUid: advisories.uid,
          advisoryId: advisories.name,
          aliases: advisories.aliases,
          score,
          vulnerability: found.vulnerability,
          purl: packages.purl,
          status: found.status,
          fixedVersions: found.fixedVersions,
          uncertain: found.uncertain,
          justification: found.justification,
          firstKnownTime: found.firstKnownTime,
          images: sql<string>`string_agg(${imagePackages.image} || '', ',')`,
        })
        .from(imagePackages)
        .innerJoin(packages, eq(packages.no, imagePackages.package))
        .innerJoin(found, eq(found.package, imagePackages.package))
        .innerJoin(advisories, eq(advisories.uid, found.advisoryUid))
        .where(and(matches(session, { imagePackages, packages, found, advisories }), isAfter))
        .groupBy(found.package, found.advisoryUid, packages.no, advisories.uid)
        .orderBy(
          sql`-coalesce(${advisories.score}, -1)`,
          asc(found.vulnerability),
          asc(packages.purl),
          asc(advisories.uid),
        )
        .limit(limitOf("limit"));
    },
  );
  const [minusScore, vulnerability, purl, uid] = after ?? [-10_000, "", "", ""];
  const place = { score: minusScore, vulnerability, purl, uid };
  const rows = await statement.execute({ ...valuesOf(filter), ...place, limit });
  return rows.map(({ images, ...row }) => ({ ...row, images: [...new Set(images.split(",").map(Number))] }));
}

/** Returns how many findings images have by score. */
export async function countFindings(session: Session, filter: FindingFilter) {
  const statement = session.prepared(
    "package_findings.count_of_images",
    (db, { imagePackages, packages, packageFindings: found, advisories }) =>
      db
        .select({
          score: sql<number>`coalesce(${advisories.score}, -1)`.mapWith(Number),
          count: sql<number>`count(distinct ${found.package} || ' ' || ${found.advisoryUid})`.mapWith(Number),
        })
        .from(imagePackages)
        .innerJoin(packages, eq(packages.no, imagePackages.package))
        .innerJoin(found, eq(found.package, imagePackages.package))
        .innerJoin(advisories, eq(advisories.uid, found.advisoryUid))
        .where(matches(session, { imagePackages, packages, found, advisories }))
        .groupBy(sql`coalesce(${advisories.score}, -1)`),
  );
  return await statement.execute(valuesOf(filter));
}

interface JoinedTables extends Pick<Tables, "imagePackages" | "packages" | "advisories"> {
  readonly found: Tables["packageFindings"];
}

function matches(session: Session, { imagePackages, packages, found, advisories }: JoinedTables) {
  const purl = textPlaceholder("package");
  return and(
    session.isAmongNumbers(imagePackages.image, textPlaceholder("images")),
    session.isAmong(found.groupUid, textPlaceholder("groups")),
    session.isAmongNumbers(found.status, textPlaceholder("statuses")),
    sql`coalesce(${advisories.score}, -1) >= ${numberPlaceholder("minScore")}`,
    sql`(${numberPlaceholder("fixable")} = 0 or cast(${found.fixedVersions} as text) <> '[]')`,
    sql`(${purl} = '' or ${packages.purl} = ${purl}
      or substr(${packages.purl}, 1, length(${purl}) + 1) in (${purl} || '@', ${purl} || '?'))`,
  );
}

function valuesOf({ images, groups, statuses, fixable, ...others }: FindingFilter) {
  const lists = { images: JSON.stringify(images), groups: JSON.stringify(groups), statuses: JSON.stringify(statuses) };
  return { ...others, ...lists, fixable: Number(fixable) };
}

/** An image that has a package. */
export interface AffectedImageRow {
  readonly no: number;
  readonly repoUid: string;
  readonly digest: string;
  readonly architecture: string;
  readonly pushTime: number | null;
  readonly purl: string;
  readonly advisoryUid: string;
  readonly groupUid: string;
  readonly vulnerability: string;
  readonly status: number;
}

/** Returns the images with open findings of advisories, in the order of repo and number, behind one position. */
export async function listAffected(
  session: Session,
  advisories: readonly string[],
  scope: { readonly from: string; readonly to: string },
  after: { readonly repoUid: string; readonly no: number },
  statuses: readonly number[],
  limit: number,
): Promise<AffectedImageRow[]> {
  const statement = session.prepared(
    "images.affected",
    (db, { images, imagePackages, packages, packageFindings: found, repos }) =>
      db
        .select({
          no: images.no,
          repoUid: images.repoUid,
          digest: images.digest,
          architecture: images.architecture,
          pushTime: images.pushTime,
          purl: packages.purl,
          advisoryUid: found.advisoryUid,
          groupUid: found.groupUid,
          vulnerability: found.vulnerability,
          status: found.status,
        })
        .from(found)
        .innerJoin(packages, eq(packages.no, found.package))
        .innerJoin(imagePackages, eq(imagePackages.package, found.package))
        .innerJoin(images, eq(images.no, imagePackages.image))
        .innerJoin(repos, eq(repos.uid, images.repoUid))
        .where(
          and(
            session.isAmong(found.advisoryUid, textPlaceholder("advisories")),
            session.isAmongNumbers(found.status, textPlaceholder("statuses")),
            isNull(images.goneTime),
            sql`${images.repoUid} >= ${textPlaceholder("from")} and ${images.repoUid} < ${textPlaceholder("to")}`,
            sql`(${images.repoUid}, ${images.no}) > (${textPlaceholder("afterRepo")}, ${numberPlaceholder("afterNo")})`,
            // An advisory applies to the repos below its group.
            sql`substr(${images.repoUid}, 1, length(${found.groupUid}) + 1) = ${found.groupUid} || '/'`,
          ),
        )
        .orderBy(asc(images.repoUid), asc(images.no), asc(packages.purl), asc(found.advisoryUid))
        .limit(limitOf("limit")),
  );
  return await statement.execute({
    advisories: JSON.stringify(advisories),
    statuses: JSON.stringify(statuses),
    ...scope,
    afterRepo: after.repoUid,
    afterNo: after.no,
    limit,
  });
}
