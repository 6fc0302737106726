// Reads an OSV record's statement about one package: the affected versions, or that none is affected.
import { create } from "@bufbuild/protobuf";
import {
  AdvisoryEventSchema,
  AdvisoryEvent_FalsePositiveDetermination_Type as Reason,
  ReviewState,
} from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import {
  type Product,
  ProductSchema,
  type ProductStatement,
  ProductStatementSchema,
  ProductStatus,
  type VersionRange,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject, scalarText } from "../../base/json.ts";
import { BadRecord, documentLimits, type Members } from "../document.ts";
import { knownEcosystem, namedProduct } from "../ecosystems.ts";
import { extraOf } from "../extra.ts";
import { parseProduct } from "../product.ts";
import { justificationOfReason, reasonOfJustification, reasonOfWord, reasonWords } from "../reasons.ts";
import type { ReadTime } from "../times.ts";
import { objectsOf, readSeverities } from "./items.ts";
import { rangeJson } from "./json.ts";
import { isEmptyRange, type ReadRange, readRanges } from "./ranges.ts";

/**
 * Reads an item of `affected`. `time` is when the source said so. Throws BadRecord if a package or one of its versions cannot be
 * read: without them, the record would say that they are not affected.
 */
export function readAffected(item: Members, time: ReadTime): ProductStatement {
  const found = readRanges(item);
  const ranges = found.map(({ range }) => range);
  const versions = item.strict().texts("versions", documentLimits.versions);
  // Without its versions it would say that every version is affected.
  if (ranges.length + versions.length === 0 && ["ranges", "versions"].some((name) => isSaid(item.value(name))))
    throw new BadRecord(item.path, "must name versions that can be read");
  const severity = readSeverities(item);
  const { product, release, more } = readPackage(item, ranges);
  const specific = objectsOf(item, ["database_specific", "ecosystem_specific"]);
  const extra = { package: more, severity: severity.whole, ...specific, ...item.rest() };
  const common = { ...(product ? { product } : {}), release, severities: severity.items };
  const marks = [specific, ...found.map(({ specific: own }) => own)].flatMap(markOf);
  const isFalsePositive = markOf(specific).length > 0 || (versions.length === 0 && areEmpty(found));
  if (!isFalsePositive) {
    const status = ProductStatus.AFFECTED;
    return create(ProductStatementSchema, { ...common, status, ranges, versions, extra: extraOf(extra) });
  }
  return create(ProductStatementSchema, {
    ...common,
    status: ProductStatus.NOT_AFFECTED,
    ...reasonIn(marks, time),
    extra: extraOf({
      ...extra,
      ranges: ranges.length === 0 ? undefined : ranges.map(rangeJson),
      versions: versions.length === 0 ? undefined : versions,
    }),
  });
}

/** Whether a member names something, in any form. */
function isSaid(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/**
 * Returns the product, its release, and the other members of `package`. Without a package, the product is the repository of the ranges.
 */
function readPackage(item: Members, ranges: readonly VersionRange[]) {
  const named = item.strict().object("package");
  const [written, name, purl] = (["ecosystem", "name", "purl"] as const).map(
    (each) => named?.strict().text(each) ?? "",
  ) as [string, string, string];
  if (!named || written + name + purl === "")
    return { product: repositoryOf(ranges), release: "", more: named?.rest() };
  const parsed = purl === "" ? undefined : parseProduct(purl)?.product;
  const isNamed = written !== "" && name !== "";
  if (!isNamed && !parsed) throw new BadRecord(named.path, "must have an ecosystem and a name, or a package URL");
  if (purl !== "" && !parsed) named.drop("purl", "must be a package URL");
  const text = knownEcosystem(written);
  if (text !== written) named.repair("ecosystem", `is read as ${JSON.stringify(text)}`);
  const { product, release } = namedProduct(written, name, parsed?.purl ?? "");
  const more = { ...named.rest(), ...(parsed ? { purl } : {}) };
  return { product, release, more: product.ecosystem === "" || Object.keys(more).length > 0 ? more : undefined };
}

function repositoryOf(ranges: readonly VersionRange[]): Product | undefined {
  const name = ranges.map(({ repo }) => repo).find((repo) => repo !== "");
  return name === undefined ? undefined : create(ProductSchema, { name });
}

/** Whether no version is in the ranges, or they are marked as a false positive. Those of commits count if there are no others. */
function areEmpty(ranges: readonly ReadRange[]): boolean {
  const versioned = ranges.filter(({ range }) => range.type !== "GIT");
  const deciding = versioned.length > 0 ? versioned : ranges;
  return (
    deciding.length > 0 && deciding.every(({ range, specific }) => isEmptyRange(range) || markOf(specific).length > 0)
  );
}

/** Returns the `database_specific` if it has the mark of a false positive: true, a reason, or an object of details. */
function markOf({ database_specific: specific }: JsonObject): JsonObject[] {
  if (!isJsonObject(specific)) return [];
  const { false_positive: mark } = specific;
  const isMarked = mark === true || mark === "true" || isJsonObject(mark) || reasonWords.includes(scalarText(mark));
  return isMarked ? [specific] : [];
}

/** Returns the reason of a false positive. VEX has fewer justifications than there are reasons, so an event keeps the reason. */
function reasonIn(marks: readonly JsonObject[], { timestamp }: ReadTime) {
  const words = marks.flatMap(({ reason, false_positive: mark }) => [scalarText(reason), scalarText(mark)]);
  const type = words.map(reasonOfWord).find((reason) => reason !== Reason.UNSPECIFIED);
  if (type !== undefined) {
    const event = create(AdvisoryEventSchema, {
      createTime: timestamp,
      reviewState: ReviewState.APPROVED,
      type: { case: "falsePositiveDetermination", value: { type } },
    });
    return { justification: justificationOfReason(type), events: [event] };
  }
  const said = marks.map(({ justification }) => scalarText(justification));
  return { justification: said.find((word) => reasonOfJustification(word) !== Reason.UNSPECIFIED) ?? "" };
}
