// Selects the CSAF statements that count for one version: those on the version itself or on a range with it come before those on all
// versions of the platform, and both before those that follow from a fix in a later version. Statements of other formats all count.
import { ProductStatus, RecordFormat } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { beforeFixes, namesNothing, namesVersion, type VersionStatus } from "../versions/status.ts";
import type { Finding } from "./finding.ts";
import { isOfDistribution } from "./package.ts";

/** A statement on the package, with the version of the package and the resulting status. */
export interface Weighed extends Pick<Finding, "record" | "statement"> {
  readonly version: string;
  /** Undefined when it says nothing. */
  readonly found: VersionStatus | undefined;
  /** Whether the finding holds for all that was asked about: a product that is safe on one platform may be affected on others. */
  readonly isTold: boolean;
}

/** Selects the statements that decide about the queried version, and returns their findings. */
export function weigh(all: readonly Weighed[]): Finding[] {
  const speaking = all.filter(({ found }) => found);
  const exact = speaking.filter((each) => namesVersion(each.statement, each.version));
  const places = new Set(speaking.filter(isSpecial).map(placeOf));
  const said = speaking.filter((each) => !isCsaf(each) || !namesNothing(each.statement) || !places.has(placeOf(each)));
  const told = said.filter(({ isTold }) => isTold);
  const findings = told.map(({ record, statement, found }): Finding => ({ record, statement, ...found! }));
  if (exact.some(({ isTold }) => isTold)) return findings;
  const known = new Set(said.map(({ statement }) => statement.release));
  return [...findings, ...followingFromFixes(all.filter(({ statement }) => !isKnown(known, statement.release)))];
}

function isCsaf({ record }: Weighed): boolean {
  return record.format === RecordFormat.CSAF;
}

/** Whether a statement names the version, or has it in a range. */
function isSpecial({ statement, found }: Weighed): boolean {
  return !namesNothing(statement) && found?.status === statement.status && !found.isUncertain;
}

/** Returns the document, the platform and the parts that a statement is about. */
function placeOf({ record, statement }: Weighed): string {
  const { source, document, vulnerability } = record;
  return JSON.stringify([source, document, vulnerability, statement.release, statement.subcomponents.toSorted()]);
}

/** Whether something is said for the release, or for all of them. */
function isKnown(releases: ReadonlySet<string>, release: string): boolean {
  return releases.has(release) || releases.has("");
}

/**
 * Vendors of distributions publish the versions with a fix for each platform, and not which were affected: a version before all of
 * them may be.
 */
function followingFromFixes(all: readonly Weighed[]): Finding[] {
  const fixes = all.filter(
    (each) => isCsaf(each) && each.statement.status === ProductStatus.FIXED && isOfDistribution(each.statement),
  );
  return [...Map.groupBy(fixes, placeOf).values()].flatMap((together): Finding[] => {
    const [{ record, statement, version }] = together as [Weighed];
    const found = beforeFixes(
      together.map((each) => each.statement),
      version,
    );
    return found ? [{ record, statement, ...found }] : [];
  });
}
