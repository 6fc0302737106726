// Stores what advisories say about packages: once for each pair, however many images have the package.
import { limitOf, numberPlaceholder, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, exists, gt, lt, sql } from "../schema/drizzle.ts";
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

/** Returns the status and the vulnerability of the findings of an advisory by the number of the package. */
export async function findStatuses(
  session: Session,
  advisoryUid: string,
  packages: readonly number[],
): Promise<Map<number, Pick<FindingRow, "package" | "status" | "vulnerability">>> {
  const statement = session.prepared("package_findings.statuses", (db, { packageFindings: rows }) =>
    db
      .select({ package: rows.package, status: rows.status, vulnerability: rows.vulnerability })
      .from(rows)
      .where(
        and(
          eq(rows.advisoryUid, textPlaceholder("advisoryUid")),
          session.isAmongNumbers(rows.package, textPlaceholder("packages")),
        ),
      ),
  );
  const found = await statement.execute({ advisoryUid, packages: JSON.stringify(packages) });
  return new Map(found.map((row) => [row.package, row]));
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

/** Returns the packages of images in a range of repos, behind one package URL, in the order of their package URLs. */
export async function findPackagesBelow(
  session: Session,
  organization: string,
  range: { readonly from: string; readonly to: string },
  after: string,
  limit: number,
): Promise<Pick<PackageRow, "no" | "purl">[]> {
  const statement = session.prepared("packages.below", (db, { packages, imagePackages, images }) => {
    const having = db
      .select({ no: images.no })
      .from(imagePackages)
      .innerJoin(images, eq(images.no, imagePackages.image))
      .where(
        and(
          eq(imagePackages.package, packages.no),
          sql`${images.repoUid} >= ${textPlaceholder("from")} and ${images.repoUid} < ${textPlaceholder("to")}`,
        ),
      );
    return db
      .select({ no: packages.no, purl: packages.purl })
      .from(packages)
      .where(
        and(
          eq(packages.organization, textPlaceholder("organization")),
          gt(packages.purl, textPlaceholder("after")),
          exists(having),
        ),
      )
      .orderBy(asc(packages.purl))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ organization, ...range, after, limit });
}

/** Lets packages be compared with advisories again. Returns how many were not waiting for it. */
export async function clearEvaluatorsOf(tx: Transaction, packages: readonly number[]): Promise<number> {
  const statement = tx.prepared("packages.clear_evaluators_of", (db, { packages: rows }) =>
    db
      .update(rows)
      .set({ evaluator: 0 })
      .where(and(tx.isAmongNumbers(rows.no, textPlaceholder("packages")), gt(rows.evaluator, sql.raw("0"))))
      .returning({ no: rows.no }),
  );
  return (await statement.execute({ packages: JSON.stringify(packages) })).length;
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
