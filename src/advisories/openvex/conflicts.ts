// Sources that disagree. Readers let the latest statement of a document hold, but of several sources the worst has to.
import { ProductStatus } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type Claim, type Loss, ofRelease } from "./claims.ts";
import { productJson } from "./products.ts";

/**
 * Repeats what a source says worse than a later claim of another source, after that claim and with its time. Where OpenVEX cannot
 * say what is worse, leaves out the later claim. The claims are in the order of their times; those of one source stay as they are.
 */
export function settleConflicts(claims: readonly Claim[], loss: Loss): readonly Claim[] {
  const bySource = Map.groupBy(claims, sourceOf);
  if (bySource.size < 2) return claims;
  const sources = new Map([...bySource].map(([source, own]) => [source, newSource(own)]));
  const settled = new Map<Claim, readonly Claim[] | undefined>();
  for (const { standing } of sources.values())
    for (const claim of standing) if (claim.json) settled.set(claim, withWorse(claim, sources, []));
  const unsaid = [...settled].filter(([, repeated]) => !repeated).map(([claim]) => claim);
  return claims.flatMap((claim) => {
    // What the source took back does not come back with the claim that is left out.
    const isUnsaid = unsaid.some(
      (each) => each === claim || (sourceOf(each) === sourceOf(claim) && hasAll(each, claim)),
    );
    if (isUnsaid) loss("what one source says better of a product than another");
    return isUnsaid ? [] : (settled.get(claim) ?? [claim]);
  });
}

/** What one source claims. */
interface Source {
  /** The claims that no later one replaces as a whole, in the order of their times. */
  readonly standing: readonly Claim[];
  /** Those of them that are about a version. */
  about(version: string): Claim[];
}

function newSource(all: readonly Claim[]): Source {
  const places = new Map(all.map((claim, i) => [claim, i]));
  const byVersion = Map.groupBy(all, ({ version, ranges }) => (ranges.length > 0 ? undefined : version));
  const inOrder = (claims: readonly Claim[]) => claims.toSorted((a, b) => places.get(a)! - places.get(b)!);
  const about = (version: string) =>
    inOrder([...new Set([version, "", undefined])].flatMap((each) => byVersion.get(each) ?? []));
  const standing = all.filter(
    (claim) => !about(claim.version).some((later) => places.get(later)! > places.get(claim)! && hasAll(later, claim)),
  );
  const isStanding = new Set(standing);
  return { standing, about: (version) => about(version).filter((claim) => isStanding.has(claim)) };
}

/** A claim with what other sources say worse. Undefined when OpenVEX cannot say that. `above` are sources that are being repeated. */
function withWorse(claim: Claim, sources: ReadonlyMap<string, Source>, above: readonly string[]): Claim[] | undefined {
  const others = [...sources].filter(([name]) => name !== sourceOf(claim) && !above.includes(name));
  const isGeneral = claim.version === "" && claim.ranges.length === 0;
  const worse = others.flatMap(([, source]) => (isGeneral ? repeatAll(claim, source) : repeatOne(claim, source)));
  if (worse.some(({ json, ranges }) => !json || ranges.length > 0)) return undefined;
  if (!isGeneral) return [claim, ...worse.toSorted((a, b) => levelOf(a) - levelOf(b))];
  const repeated = worse.map((each) => withWorse(each, sources, [...above, sourceOf(claim)]));
  return repeated.some((each) => !each) ? undefined : [claim, ...repeated.flatMap((each) => each ?? [])];
}

/** All that a source said by the time of a claim about all versions, if it says worse of any: its own order decides among them. */
function repeatAll(claim: Claim, { standing }: Source): Claim[] {
  const earlier = standing.filter((each) => each.time <= claim.time && shareParts(each, claim));
  const isWorse = earlier.some((each) => levelOf(each) > levelOf(claim));
  return isWorse ? earlier.map((each) => ({ ...each, time: claim.time })) : [];
}

/** What a source says worse of the version of a claim. */
function repeatOne(claim: Claim, source: Source): Claim[] {
  const about = source.about(claim.version).filter((each) => shareParts(each, claim));
  const effective = about.filter((each, i) => !about.slice(i + 1).some((later) => hasAllParts(later, each)));
  return effective
    .filter((each) => each.time <= claim.time && levelOf(each) > levelOf(claim))
    .map((each) => ({ ...each, version: claim.version, ranges: [], time: claim.time, json: jsonOfBoth(each, claim) }));
}

/** How bad a status is: a fix is as good as not to be affected. */
function levelOf({ status }: Claim): number {
  if (status === ProductStatus.AFFECTED) return 2;
  return status === ProductStatus.UNDER_INVESTIGATION ? 1 : 0;
}

function sourceOf({ held }: Claim): string {
  return held.record.source;
}

/** Whether a claim is about all versions and parts that another is about. */
function hasAll(claim: Claim, other: Claim): boolean {
  if (claim.ranges.length > 0) return claim.held.statement.ranges === other.ranges && hasAllParts(claim, other);
  const hasVersions = claim.version === "" || (claim.version === other.version && other.ranges.length === 0);
  return hasVersions && hasAllParts(claim, other);
}

function hasAllParts({ held: { statement } }: Claim, other: Claim): boolean {
  const { release, subcomponents } = other.held.statement;
  if (statement.release !== "" && statement.release !== release) return false;
  if (statement.subcomponents.length === 0) return true;
  return subcomponents.length > 0 && subcomponents.every((part) => statement.subcomponents.includes(part));
}

function shareParts(a: Claim, b: Claim): boolean {
  const [{ release, subcomponents }, other] = [a.held.statement, b.held.statement];
  if (release !== "" && other.release !== "" && release !== other.release) return false;
  const isWhole = subcomponents.length === 0 || other.subcomponents.length === 0;
  return isWhole || subcomponents.some((part) => other.subcomponents.includes(part));
}

/** The version of a claim, and the parts that it and another share. Undefined when the version may be in a range of the other. */
function jsonOfBoth(other: Claim, claim: Claim): Claim["json"] {
  if (other.ranges.length > 0) return undefined;
  if (hasAllParts(other, claim)) return claim.json;
  const [{ product, release, subcomponents: parts }, own] = [other.held.statement, claim.held.statement];
  const released = product && ofRelease(product, release || own.release);
  const subcomponents =
    own.subcomponents.length === 0 ? parts : parts.filter((part) => own.subcomponents.includes(part));
  return released && productJson({ product: released, version: claim.version, subcomponents });
}
