// Turns a statement about a product into claims of OpenVEX, which names versions one by one and has no ranges.

import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  type Product,
  ProductSchema,
  type ProductStatement,
  ProductStatus,
  RangeEventType,
  RecordFormat,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { holdingRecords, saidTime } from "../derive/holding.ts";
import { compareRecords } from "../digest.ts";
import { parseExtra } from "../extra.ts";
import { parseProduct } from "../product.ts";
import { versionedPurl } from "../purl.ts";
import { heldStatement } from "../versions/held-statement.ts";
import { statusAt } from "../versions/status.ts";
import { type NamedProduct, productJson } from "./products.ts";

/** A statement that holds, and the record that it is from. */
export interface Held {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
  /** The time of the source's statement, in milliseconds since the epoch; infinite if unknown, which means the time of the export. */
  readonly time: number;
}

/** A claim about one version of a product, about all versions, or about ranges. */
export interface Claim {
  readonly held: Held;
  readonly status: ProductStatus;
  /** Empty means all versions, or those in the ranges. */
  readonly version: string;
  /** The ranges that it is about, which OpenVEX cannot say. Empty for a claim about one version or all. */
  readonly ranges: readonly VersionRange[];
  /** The parts of the product that it is about; empty means the product itself. */
  readonly parts: readonly string[];
  /** The release that it holds for; empty means all. */
  readonly release: string;
  /** The time of the statement, in milliseconds since the epoch; infinite if unknown. */
  readonly time: number;
  /** Whether the claim is written a second time, after the later and better claim of another source: readers believe the last one. */
  readonly isRepeated: boolean;
  /** The product in the form of OpenVEX; undefined when OpenVEX cannot name it. */
  readonly json: JsonObject | undefined;
}

/** Counts data of an advisory that OpenVEX has no place for. */
export type Loss = (what: string) => void;

/**
 * Returns the statements about an advisory, each with the status of the last event of its log. Statements of OpenVEX have times that tell
 * readers which of them count; of other formats, only those that count are here.
 */
export function heldOf({ advisory, records }: AdvisoryStatements, loss: Loss): Held[] {
  const id = advisory?.advisoryId ?? "";
  const live = records.filter(({ withdrawTime }) => withdrawTime === undefined).sort(compareRecords);
  const holding = new Set(holdingRecords(id, live).flatMap(({ statements }) => statements));
  return live.flatMap((record) => {
    const own = record.statements.filter(
      (each) =>
        (each.advisoryId === "" || each.advisoryId === id) &&
        (record.format === RecordFormat.OPENVEX || holding.has(each)),
    );
    return own.flatMap((whole) => {
      const statement = heldStatement(whole);
      if (!statement) loss("a state that nobody has approved, or a fix without a version");
      if (statement && whole.events.length > 1) loss("the history of a state");
      if (!statement) return [];
      const made = advisory?.createTime ? fromTimestamp(advisory.createTime) : Number.POSITIVE_INFINITY;
      return { record, statement, time: saidTime({ record, statement }) ?? made };
    });
  });
}

/** Returns the claims of a statement: about the versions and ranges that it names, and about the versions with a fix. */
export function claimsOf(held: Held, loss: Loss): Claim[] {
  const { status, versions, ranges } = held.statement;
  const newClaim = newClaims(held, loss);
  if ((versions.length === 0 && ranges.length === 0) || ranges.some(hasAll)) return [newClaim(status, "")];
  const isAffected = status === ProductStatus.AFFECTED;
  const named = new Set(versions);
  // Of versions that are affected, a range names those with a fix. Else it names the versions that it begins with.
  const boundaries = boundariesOf(ranges, isAffected ? RangeEventType.FIXED : RangeEventType.INTRODUCED);
  const isSaid = (version: string) => !isAffected || statusAt(held.statement, version)?.status === ProductStatus.FIXED;
  const others = boundaries.filter((version) => !named.has(version) && isSaid(version));
  if (ranges.length > 0) loss("a range of versions");
  return [
    ...(ranges.length > 0 ? [{ ...newClaim(status, ""), ranges, json: undefined }] : []),
    ...[...named].map((version) => newClaim(status, version)),
    ...others.map((version) => newClaim(isAffected ? ProductStatus.FIXED : status, version)),
  ];
}

function newClaims(held: Held, loss: Loss) {
  const { record, statement, time } = held;
  const { product, release, subcomponents } = statement;
  const own = record.format === RecordFormat.OPENVEX ? parseExtra(statement.extra).product : undefined;
  return (status: ProductStatus, version: string): Claim => {
    const json = isJsonObject(own) ? own : product && releasedJson({ product, version, subcomponents }, release);
    if (!json) loss("a product or a part of one that has no package URL, CPE or IRI");
    return { held, status, version, ranges: [], parts: subcomponents, release, time, isRepeated: false, json };
  };
}

/** Whether all versions are in a range. */
function hasAll({ type, events: [first, ...others] }: VersionRange): boolean {
  return type !== "GIT" && others.length === 0 && first?.type === RangeEventType.INTRODUCED && first.version === "0";
}

/** Returns the versions of an event, each once. */
function boundariesOf(ranges: readonly VersionRange[], wanted: RangeEventType): string[] {
  const events = ranges.filter(({ type }) => type !== "GIT").flatMap((range) => range.events);
  const found = events.filter(({ type, version }) => type === wanted && version !== "0");
  return [...new Set(found.map(({ version }) => version))];
}

/** Writes a product for a release; undefined when OpenVEX cannot name it. A package of a platform with a CPE is a part of the platform. */
export function releasedJson(named: NamedProduct, release: string): JsonObject | undefined {
  const { product, version, subcomponents } = named;
  if (!/^cpe:[^,\s]+$/.test(release)) {
    const released = ofRelease(product, release);
    return released && productJson({ ...named, product: released });
  }
  if (product.purl === "" || subcomponents.length > 0) return undefined;
  const platform = create(ProductSchema, { cpe: release });
  return productJson({ product: platform, version: "", subcomponents: [versionedPurl(product.purl, version)] });
}

/** Package URLs of packages of distributions have the release in the qualifier `distro`, such as `debian-12`. */
function ofRelease(product: Product, release: string): Product | undefined {
  if (release === "") return product;
  const [, distribution] = /^pkg:(?:apk|deb|rpm)\/([^/]+)\//.exec(product.purl) ?? [];
  if (distribution === undefined || release.includes(", ")) return undefined;
  if (/[?&]distro=/.test(product.purl)) return product;
  const qualifier = `distro=${encodeURIComponent(`${distribution}-${release}`)}`;
  return parseProduct(`${product.purl}${product.purl.includes("?") ? "&" : "?"}${qualifier}`)?.product;
}
