// Lists the findings of images, with the statuses that statements about the images give them.
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** A finding of an image. */
export interface ImageFindingRow {
  /** The number of the package. */
  readonly package: number;
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

/** The position of a finding in their order: by score from the highest on, vulnerability, package URL, advisory and status. */
export type FindingPlace = readonly [
  minusScore: number,
  vulnerability: string,
  purl: string,
  advisoryUid: string,
  status: number,
];

/** The status of a finding in one image that differs from the stored one. */
export interface StatusOverride {
  readonly image: number;
  readonly package: number;
  readonly advisoryUid: string;
  readonly status: number;
}

/** Returns the text that identifies a finding in one image. */
export function overrideKeyOf(override: Omit<StatusOverride, "status">): string {
  return `${override.image} ${override.package} ${override.advisoryUid}`;
}

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
  readonly overrides: readonly StatusOverride[];
}

/** Returns a page of the findings of images, in their order, each package, advisory and status once. */
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
      const status = statusIn(session, { imagePackages, found });
      const isAfter = sql`(-coalesce(${advisories.score}, -1), ${found.vulnerability}, ${packages.purl}, ${advisories.uid}, ${status})
        > (${numberPlaceholder("score")}, ${textPlaceholder("vulnerability")}, ${textPlaceholder("purl")}, ${textPlaceholder("uid")}, ${numberPlaceholder("status")})`;
      return db
        .select({
          package: found.package,
          advisoryUid: advisories.uid,
          advisoryId: advisories.name,
          aliases: advisories.aliases,
          score,
          vulnerability: found.vulnerability,
          purl: packages.purl,
          // All rows of a group have the same status. PostgreSQL takes expressions with placeholders for different ones.
          status: sql<number>`min(${status})`.mapWith(Number),
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
        .groupBy(found.package, found.advisoryUid, packages.no, advisories.uid, status)
        .orderBy(
          sql`-coalesce(${advisories.score}, -1)`,
          asc(found.vulnerability),
          asc(packages.purl),
          asc(advisories.uid),
          sql`min(${status})`,
        )
        .limit(limitOf("limit"));
    },
  );
  const [minusScore, vulnerability, purl, uid, status] = after ?? [-10_000, "", "", "", 0];
  const place = { score: minusScore, vulnerability, purl, uid, status };
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
          count: sql<number>`count(distinct ${found.package} || ' ' || ${found.advisoryUid} || ' ' ||
            ${statusIn(session, { imagePackages, found })})`.mapWith(Number),
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
    session.isAmongNumbers(statusIn(session, { imagePackages, found }), textPlaceholder("statuses")),
    sql`coalesce(${advisories.score}, -1) >= ${numberPlaceholder("minScore")}`,
    sql`(${numberPlaceholder("fixable")} = 0 or cast(${found.fixedVersions} as text) <> '[]')`,
    sql`(${purl} = '' or ${packages.purl} = ${purl}
      or substr(${packages.purl}, 1, length(${purl}) + 1) in (${purl} || '@', ${purl} || '?'))`,
  );
}

/** The statuses that findings have (`ProductStatus`). */
const storedStatuses = [1, 2, 3, 4] as const;

/** Returns the status of a finding in an image. */
function statusIn(session: Session, { imagePackages, found }: Pick<JoinedTables, "imagePackages" | "found">) {
  const key = sql`${imagePackages.image} || ' ' || ${found.package} || ' ' || ${found.advisoryUid}`;
  const cases = storedStatuses.map((status) => {
    const keys = textPlaceholder(`overridden${status}`);
    return sql`when ${session.isAmong(sql`(${key})`, keys)} then ${sql.raw(String(status))}`;
  });
  const isOverridden = sql`${numberPlaceholder("overrides")} > 0`;
  return sql`(case when not (${isOverridden}) then ${found.status} ${sql.join(cases, sql` `)} else ${found.status} end)`;
}

function valuesOf({ images, groups, statuses, fixable, overrides, ...others }: FindingFilter) {
  const lists = { images: JSON.stringify(images), groups: JSON.stringify(groups), statuses: JSON.stringify(statuses) };
  const overridden = storedStatuses.map((status) => {
    const keys = overrides.filter((each) => each.status === status).map(overrideKeyOf);
    return [`overridden${status}`, JSON.stringify(keys)] as const;
  });
  return {
    ...others,
    ...lists,
    ...Object.fromEntries(overridden),
    overrides: overrides.length,
    fixable: Number(fixable),
  };
}

/** A finding of an image, before statements about the image. */
export interface StoredFinding {
  readonly image: number;
  readonly package: number;
  readonly advisoryUid: string;
  readonly advisoryId: string;
  readonly aliases: readonly string[];
  readonly vulnerability: string;
  readonly purl: string;
}

/** Returns all findings of images by the advisories of some groups. */
export async function findFindings(
  session: Session,
  images: readonly number[],
  groups: readonly string[],
): Promise<StoredFinding[]> {
  const statement = session.prepared(
    "package_findings.all_of_images",
    (db, { imagePackages, packages, packageFindings: found, advisories }) =>
      db
        .select({
          image: imagePackages.image,
          package: found.package,
          advisoryUid: advisories.uid,
          advisoryId: advisories.name,
          aliases: advisories.aliases,
          vulnerability: found.vulnerability,
          purl: packages.purl,
        })
        .from(imagePackages)
        .innerJoin(packages, eq(packages.no, imagePackages.package))
        .innerJoin(found, eq(found.package, imagePackages.package))
        .innerJoin(advisories, eq(advisories.uid, found.advisoryUid))
        .where(
          and(
            session.isAmongNumbers(imagePackages.image, textPlaceholder("images")),
            session.isAmong(found.groupUid, textPlaceholder("groups")),
          ),
        ),
  );
  return await statement.execute({ images: JSON.stringify(images), groups: JSON.stringify(groups) });
}
