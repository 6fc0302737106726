// Lists the images that have a package with a finding.
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, isNull, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** An image that has a package. */
export interface AffectedImageRow {
  readonly no: number;
  readonly repoUid: string;
  readonly digest: string;
  readonly architecture: string;
  readonly pushTime: number | null;
  readonly purl: string;
  readonly advisoryUid: string;
  readonly advisoryId: string;
  readonly aliases: readonly string[];
  readonly groupUid: string;
  readonly vulnerability: string;
  readonly status: number;
}

/** Returns the images with findings of advisories and of these statuses, in the order of repo and number, behind one position. */
export async function listAffected(
  session: Session,
  advisoryUids: readonly string[],
  scope: { readonly from: string; readonly to: string },
  after: { readonly repoUid: string; readonly no: number },
  statuses: readonly number[],
  limit: number,
): Promise<AffectedImageRow[]> {
  const statement = session.prepared("images.affected", (db, tables) => {
    const { images, imagePackages, packages, packageFindings: found, repos, advisories } = tables;
    return db
      .select({
        no: images.no,
        repoUid: images.repoUid,
        digest: images.digest,
        architecture: images.architecture,
        pushTime: images.pushTime,
        purl: packages.purl,
        advisoryUid: found.advisoryUid,
        advisoryId: advisories.name,
        aliases: advisories.aliases,
        groupUid: found.groupUid,
        vulnerability: found.vulnerability,
        status: found.status,
      })
      .from(found)
      .innerJoin(advisories, eq(advisories.uid, found.advisoryUid))
      .innerJoin(packages, eq(packages.no, found.package))
      .innerJoin(imagePackages, eq(imagePackages.package, found.package))
      .innerJoin(images, eq(images.no, imagePackages.image))
      .innerJoin(repos, eq(repos.uid, images.repoUid))
      .where(isWanted(session, tables))
      .orderBy(asc(images.repoUid), asc(images.no), asc(packages.purl), asc(found.advisoryUid))
      .limit(limitOf("limit"));
  });
  return await statement.execute({
    advisories: JSON.stringify(advisoryUids),
    statuses: JSON.stringify(statuses),
    ...scope,
    afterRepo: after.repoUid,
    afterNo: after.no,
    limit,
  });
}

function isWanted(session: Session, { images, packageFindings: found }: Pick<Tables, "images" | "packageFindings">) {
  return and(
    session.isAmong(found.advisoryUid, textPlaceholder("advisories")),
    session.isAmongNumbers(found.status, textPlaceholder("statuses")),
    isNull(images.goneTime),
    sql`${images.repoUid} >= ${textPlaceholder("from")} and ${images.repoUid} < ${textPlaceholder("to")}`,
    sql`(${images.repoUid}, ${images.no}) > (${textPlaceholder("afterRepo")}, ${numberPlaceholder("afterNo")})`,
    // An advisory applies to the repos below its group.
    sql`substr(${images.repoUid}, 1, length(${found.groupUid}) + 1) = ${found.groupUid} || '/'`,
  );
}
