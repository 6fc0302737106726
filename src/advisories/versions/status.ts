// Evaluates one statement for a version.
import { ReviewState } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type ProductStatement,
  ProductStatus,
  type RangeEvent,
  RangeEventType,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { heldStatement } from "./held-statement.ts";
import { orderIn, orderOf, unknownOrder, type VersionOrder } from "./order.ts";
import { type Place, placeIn } from "./ranges.ts";

const { AFFECTED, NOT_AFFECTED, FIXED, UNDER_INVESTIGATION } = ProductStatus;

/** The status of a version, and the versions that have a fix. */
export interface VersionStatus {
  readonly status: ProductStatus;
  /** Versions that have a fix: the next ones of an affected version, the one that ended it for a fixed one. */
  readonly fixedVersions: readonly string[];
  /** Whether the version could not be compared, and the status is the worst that may hold. */
  readonly isUncertain: boolean;
}

/** From the best to the worst. */
const severity: readonly ProductStatus[] = [NOT_AFFECTED, FIXED, UNDER_INVESTIGATION, AFFECTED];

/**
 * Returns the status of a version according to a statement, or undefined if the statement does not cover it. The empty version means all
 * versions, so any covered version counts. A version that cannot be compared is affected if any version may be: no vulnerability is
 * hidden.
 */
export function statusAt(statement: ProductStatement, version: string): VersionStatus | undefined {
  const held = heldStatement(statement);
  if (!held) return withoutVersion(statement);
  if (!held.product) return undefined;
  if (version === "") return { status: held.status, fixedVersions: fixesIn(held.ranges), isUncertain: false };
  const order = orderOf(held.product);
  const isNamed = held.versions.some((named) => isSame(named, version, order));
  const places = decidingRanges(held).map((range) => placeIn(range, version, orderIn(range, order)));
  if (held.status === AFFECTED) return affectedAt(held, isNamed, places);
  const isInside = isNamed || places.some(({ where }) => where === "inside") || namesNothing(held);
  return isInside ? { status: held.status, fixedVersions: [], isUncertain: false } : uncertainUnder(held, places);
}

/** Whether a statement names the version itself. */
export function namesVersion(statement: ProductStatement, version: string): boolean {
  const held = heldStatement(statement);
  return held?.product !== undefined && held.versions.some((named) => isSame(named, version, orderOf(held.product!)));
}

/**
 * Returns the status of a version that precedes all fixed versions: it may be affected. Returns undefined for any other version, or if
 * the versions have no known order. All `statements` must be about one product.
 */
export function beforeFixes(statements: readonly ProductStatement[], version: string): VersionStatus | undefined {
  const product = statements[0]?.product;
  if (!product || version === "") return undefined;
  const order = orderOf(product);
  const starts = statements.flatMap(({ ranges }) => ranges.flatMap(({ events }) => events)).filter(isStart);
  const fixes = [...statements.flatMap(({ versions }) => versions), ...starts.map((event) => event.version)];
  const [first, ...others] = fixes;
  if (first === undefined || !fixes.every((fix) => (order(version, fix) ?? 0) < 0)) return undefined;
  const next = others.reduce((least, fix) => ((order(fix, least) ?? 0) < 0 ? fix : least), first);
  return { status: AFFECTED, fixedVersions: [next], isUncertain: true };
}

function isStart({ type, version }: RangeEvent): boolean {
  return type === RangeEventType.INTRODUCED && version !== "0";
}

/** Returns the status of a commit that a statement names. Ranges between commits are not evaluated. */
export function statusAtCommit(statement: ProductStatement, commit: string): VersionStatus | undefined {
  const held = heldStatement(statement);
  if (held?.status !== AFFECTED) return undefined;
  const naming = held.ranges.filter(
    ({ type, events }) => type === "GIT" && events.some(({ version }) => version === commit),
  );
  if (naming.length === 0 && !held.versions.includes(commit)) return undefined;
  return affectedAt(
    held,
    held.versions.includes(commit),
    naming.map((range) => placeIn(range, commit, unknownOrder)),
  );
}

/** A log that ends with a fix in a version that it does not name: any version may be one without the fix. */
function withoutVersion({ events }: ProductStatement): VersionStatus | undefined {
  const isApproved = events.some(({ reviewState }) => reviewState === ReviewState.APPROVED);
  return isApproved ? { status: AFFECTED, fixedVersions: [], isUncertain: true } : undefined;
}

/** Returns the worst of several statuses of a version, with the fixes of all that are equally bad. */
export function worstOf(found: readonly VersionStatus[]): VersionStatus | undefined {
  const worst = Math.max(...found.map(({ status }) => severity.indexOf(status)));
  const those = found.filter(({ status }) => severity.indexOf(status) === worst);
  const [first] = those;
  if (!first) return undefined;
  const fixedVersions = [...new Set(those.flatMap((each) => each.fixedVersions))];
  return { status: first.status, fixedVersions, isUncertain: those.every(({ isUncertain }) => isUncertain) };
}

function affectedAt(held: ProductStatement, isNamed: boolean, places: readonly Place[]): VersionStatus | undefined {
  const inside = places.filter(({ where }) => where === "inside");
  const fixedVersions = (of: readonly Place[]) => [
    ...new Set(of.map((place) => place.fixedVersion).filter((fixed) => fixed !== "")),
  ];
  if (isNamed || inside.length > 0 || namesNothing(held)) {
    return { status: AFFECTED, fixedVersions: fixedVersions(inside), isUncertain: false };
  }
  if (places.some(({ where }) => where === "unknown")) {
    return { status: AFFECTED, fixedVersions: fixesIn(held.ranges), isUncertain: true };
  }
  // Other versions than those that are named one by one, are not spoken of.
  if (places.length === 0) return undefined;
  const fixes = fixedVersions(places);
  return { status: fixes.length > 0 ? FIXED : NOT_AFFECTED, fixedVersions: fixes, isUncertain: false };
}

/** Returns the uncertain status of versions that cannot be compared, but only if it does not rule out the vulnerability. */
function uncertainUnder({ status }: ProductStatement, places: readonly Place[]): VersionStatus | undefined {
  const isUnknown = places.some(({ where }) => where === "unknown");
  return isUnknown && status === UNDER_INVESTIGATION ? { status, fixedVersions: [], isUncertain: true } : undefined;
}

/** Ranges of commits count only where there is nothing else: versions are not found in them. */
function decidingRanges({ ranges, versions }: ProductStatement): VersionRange[] {
  const versioned = ranges.filter(({ type }) => type !== "GIT");
  return versioned.length > 0 || versions.length > 0 ? versioned : ranges;
}

/** Whether a statement is on all versions. */
export function namesNothing({ ranges, versions }: ProductStatement): boolean {
  return ranges.length === 0 && versions.length === 0;
}

function isSame(named: string, version: string, order: VersionOrder): boolean {
  return named === version || order(named, version) === 0;
}

function fixesIn(ranges: readonly VersionRange[]): string[] {
  const fixes = ranges
    .filter(({ type }) => type !== "GIT")
    .flatMap(({ events }) => events.filter(({ type }) => type === RangeEventType.FIXED).map(({ version }) => version));
  return [...new Set(fixes)];
}
