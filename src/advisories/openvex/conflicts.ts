// Sources that disagree. Readers let the latest statement of a document hold, but of several sources the worst has to.
import { ProductStatus, RecordFormat } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { statusAt } from "../versions/status.ts";
import { type Claim, releasedJson } from "./claims.ts";
import { partJson } from "./products.ts";

/** The combinations of versions, parts and releases of one advisory. With more, an advisory is left out if sources disagree. */
const mostCells = 50_000;

/** A version, a part and a release of a product. Empty means those that no claim names. */
interface Cell {
  readonly version: string;
  readonly part: string;
  readonly release: string;
}

/** A claim that is said again, and its place among those. */
interface Repeated {
  readonly claim: Claim;
  readonly place: number;
}

/**
 * Returns the claims, followed by worse claims of other sources about the same version or part. The claims are in the order of their
 * times; those of one OpenVEX source keep their order. Undefined if OpenVEX cannot express the worse claim.
 */
export function settleConflicts(claims: readonly Claim[]): readonly Claim[] | undefined {
  const bySource = [...Map.groupBy(claims, voiceOf).values()];
  if (bySource.length < 2 || new Set(claims.map(levelOf)).size < 2) return claims;
  const cells = cellsOf(claims);
  if (!cells) return undefined;
  const sources = bySource.map(newTimeline);
  const latestOf = newTimeline(claims.filter(({ json }) => json !== undefined));
  const write = newCellWriter(claims);
  const repeated = new Map<string, Repeated>();
  for (const cell of cells) {
    const latest = latestIn(repeated, cell) ?? latestOf(cell)[0];
    const [worst] = sources.flatMap((source) => source(cell)).sort((a, b) => levelOf(b) - levelOf(a));
    if (!latest || !worst || levelOf(worst) === levelOf(latest)) continue;
    const json = worst.ranges.length === 0 ? write(cell) : undefined;
    if (!json) return undefined;
    const claim = { ...worst, isRepeated: true, time: claims.at(-1)!.time, json };
    repeated.set(keyOf(cell), { claim, place: repeated.size });
  }
  return [...claims, ...[...repeated.values()].map(({ claim }) => claim)];
}

/** Of the claims of one source in OpenVEX the latest holds. What a source says in another format holds all at the same time. */
function voiceOf({ held: { record }, status }: Claim): string {
  return record.format === RecordFormat.OPENVEX ? record.source : `${record.source}\0${status}`;
}

/** Returns all combinations, general ones before the special ones in them. */
function cellsOf(claims: readonly Claim[]): Cell[] | undefined {
  const versions = new Set(["", ...claims.map(({ version }) => version)]);
  const parts = new Set(["", ...claims.flatMap((claim) => claim.parts)]);
  const releases = new Set(["", ...claims.map(({ release }) => release)]);
  if (versions.size * parts.size * releases.size > mostCells) return undefined;
  const cells = [...versions].flatMap((version) =>
    [...parts].flatMap((part) => [...releases].map((release) => ({ version, part, release }))),
  );
  const depthOf = (cell: Cell) => Object.values(cell).filter((text) => text !== "").length;
  return cells.sort((a, b) => depthOf(a) - depthOf(b));
}

/** Finds the latest claim about a cell, and after it the claims about ranges that may replace it. */
function newTimeline(claims: readonly Claim[]): (cell: Cell) => Claim[] {
  const places = new Map(claims.map((claim, i) => [claim, i]));
  const byVersion = Map.groupBy(claims, ({ version, ranges }) => (ranges.length > 0 ? undefined : version));
  return ({ version, part, release }) => {
    const about = [...new Set([version, "", undefined])]
      .flatMap((each) => byVersion.get(each) ?? [])
      .filter((claim) => claim.release === "" || claim.release === release)
      .filter(({ parts }) => parts.length === 0 || parts.includes(part))
      .sort((a, b) => places.get(b)! - places.get(a)!)
      .flatMap((claim) => (claim.ranges.length > 0 ? (claimAt(claim, version) ?? []) : claim));
    const certain = about.findIndex(({ ranges }) => ranges.length === 0);
    return certain < 0 ? about : [about[certain]!, ...about.slice(0, certain)];
  };
}

/**
 * Narrows a claim about ranges to one version; returns the claim unchanged if the version cannot be compared, and undefined if it does
 * not apply.
 */
function claimAt(claim: Claim, version: string): Claim | undefined {
  if (version === "") return claim;
  const found = statusAt(claim.held.statement, version);
  if (found?.status !== claim.status) return undefined;
  return found.isUncertain ? claim : { ...claim, ranges: [] };
}

/** Returns the last of the repeated claims about a cell. */
function latestIn(repeated: ReadonlyMap<string, Repeated>, { version, part, release }: Cell): Claim | undefined {
  const options = (text: string) => (text === "" ? [text] : [text, ""]);
  const keys = options(version).flatMap((v) =>
    options(part).flatMap((p) => options(release).map((r) => keyOf({ version: v, part: p, release: r }))),
  );
  const found = keys.flatMap((key) => repeated.get(key) ?? []);
  return found.sort((a, b) => b.place - a.place)[0]?.claim;
}

function keyOf({ version, part, release }: Cell): string {
  return JSON.stringify([version, part, release]);
}

/** Writes the product of a cell as the claims write it. */
function newCellWriter(claims: readonly Claim[]): (cell: Cell) => JsonObject | undefined {
  const bases = new Map<string, JsonObject>();
  const partJsons = new Map<string, unknown>();
  for (const { json, version, release, parts } of claims) {
    if (!json) continue;
    const { subcomponents, ...whole } = json;
    // A package of a platform is itself written as a part.
    bases.set(keyOf({ version, part: "", release }), parts.length > 0 ? whole : json);
    if (Array.isArray(subcomponents)) for (const [i, part] of parts.entries()) partJsons.set(part, subcomponents[i]);
  }
  const product = claims[0]?.held.statement.product;
  return (cell) => {
    const { version, part, release } = cell;
    const base =
      bases.get(keyOf({ ...cell, part: "" })) ??
      (product && releasedJson({ product, version, subcomponents: [] }, release));
    if (!base || part === "") return base;
    if (base.subcomponents !== undefined) return undefined;
    const json = partJsons.get(part) ?? partJson(part);
    return json === undefined ? undefined : { ...base, subcomponents: [json] };
  };
}

/** Returns the severity of a status. A fix counts as not affected. */
export function levelOf({ status }: Claim): number {
  if (status === ProductStatus.AFFECTED) return 2;
  return status === ProductStatus.UNDER_INVESTIGATION ? 1 : 0;
}
