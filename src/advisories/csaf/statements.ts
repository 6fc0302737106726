// Reads the statements of a vulnerability about its products. Products with equal statements share one.
import { create } from "@bufbuild/protobuf";
import {
  type ProductStatement,
  ProductStatementSchema,
  ProductStatus,
  RecordSeveritySchema,
  ResponsePlan,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { BadRecord, isText, type Members } from "../document.ts";
import { extraOf } from "../extra.ts";
import { identityOf } from "../product.ts";
import { parseTime, type ReadTime } from "../times.ts";
import { type Detail, type DetailKind, type Details, readDetails } from "./details.ts";
import { type Fixes, readFixes, type Stated } from "./fixes.ts";
import { csafLimits, smallerDocuments } from "./limits.ts";
import { type Branches, ProductPacker } from "./packing.ts";
import type { ProductReader } from "./products.ts";
import type { ReadProduct } from "./read-product.ts";
import type { ProductTree } from "./tree.ts";
import { noAction, noAnalysis, noFix, noReason, pendingFix, recommended, statusWords } from "./words.ts";

/** Products with equal statements about a vulnerability. */
interface Group {
  /** The members of `product_status`, all of one status. */
  readonly words: readonly string[];
  readonly details: readonly Detail[];
  readonly products: ReadProduct[];
}

/** The statements read for one vulnerability, with the items that concern no product. */
export interface ReadStatements {
  readonly statements: ProductStatement[];
  /** The items about no product. */
  readonly general: Details["general"];
  readonly shared: Shared;
}

/** The lists in a record's `extra` whose items its statements refer to by index. */
export interface Shared {
  /** The items about products. */
  readonly details: readonly SharedDetail[];
  readonly branches: readonly Branches[];
}

export type SharedDetail = readonly [kind: DetailKind, json: JsonObject];

/** Reads the statuses of the products, and the vulnerability's other data about them. */
export function readStatements(vulnerability: Members, tree: ProductTree, reader: ProductReader): ReadStatements {
  const stated = readStatuses(vulnerability, reader);
  const hasStatus = new Set(stated.keys());
  const details = readDetails(vulnerability, tree, hasStatus);
  const groups = new Map<string, Group>();
  const numbers = new Map<Detail, number>();
  for (const [id, { words, product }] of stated) {
    const said = details.of(id);
    for (const together of byStatus(words)) {
      const key = JSON.stringify([together, said.map((detail) => numberOf(numbers, detail)), keyOf(product)]);
      const group = groups.get(key);
      if (group) group.products.push(product);
      else groups.set(key, { words: together, details: said, products: [product] });
    }
  }
  if (groups.size > csafLimits.statements)
    throw new BadRecord(
      "product_status",
      `has ${groups.size} statements, more than the limit of ${csafLimits.statements}; ${smallerDocuments}`,
    );
  const fixes = readFixes(stated.values());
  const packer = new ProductPacker();
  const statements = [...groups.values()].map((group) => toStatement(group, { fixes, numbers, packer }));
  const shared = [...numbers.keys()].map(({ kind, json }): SharedDetail => [kind, json]);
  return { statements, general: details.general, shared: { details: shared, branches: packer.branches() } };
}

/**
 * Returns the words of a product by their statuses. A document may contradict itself: then there are several. What is recommended for a
 * fix may have another status (CSAF 2.0 §6.1.6); it counts as fixed only where it has none.
 */
function byStatus(words: readonly string[]): string[][] {
  const others = words.filter((word) => word !== recommended);
  if (others.length === 0) return [[recommended]];
  const [first, ...rest] = [...Map.groupBy(others, (word) => statusWords.get(word)).values()] as [
    string[],
    ...string[][],
  ];
  return [others.length < words.length ? [...first, recommended] : first, ...rest];
}

function numberOf(numbers: Map<Detail, number>, detail: Detail): number {
  const known = numbers.get(detail) ?? numbers.size;
  numbers.set(detail, known);
  return known;
}

/**
 * Returns the key by which products are grouped into statements: versions of a product share one, unless the statement is about parts of
 * them.
 */
function keyOf({ product, release, versions, ranges, subcomponent }: ReadProduct): unknown[] {
  const isOfAll = versions.length + ranges.length === 0;
  const versionsOfWhole =
    subcomponent === "" ? [] : [versions, ranges.map(({ type, events, extra }) => [type, events, extra])];
  return [identityOf(product), release, isOfAll, subcomponent === "", versionsOfWhole];
}

/** Returns the words of each product, in the order of the document. */
function readStatuses(vulnerability: Members, reader: ProductReader): Map<string, Stated> {
  const stated = new Map<string, Stated & { readonly words: string[] }>();
  const status = vulnerability.strict().object("product_status");
  const reported = new Set<string>();
  for (const [word, meaning] of statusWords) {
    // Without a product that may be affected, the record would not say that it is.
    const isSafe = meaning === ProductStatus.FIXED || meaning === ProductStatus.NOT_AFFECTED;
    const list = isSafe ? status : status?.strict();
    for (const id of list?.texts(word, csafLimits.products) ?? []) {
      const product = stated.get(id)?.product ?? reader.read(id);
      if (typeof product === "string") {
        list?.drop(word, `names the product ${JSON.stringify(id.slice(0, 100))}, which ${product}`);
        continue;
      }
      const known = stated.get(id);
      if (known) {
        if (!known.words.includes(word)) known.words.push(word);
        continue;
      }
      stated.set(id, { words: [word], product });
      for (const problem of product.problems) {
        const text = `names the product ${JSON.stringify(id.slice(0, 100))}, which ${problem}`;
        if (!reported.has(problem)) status?.drop(word, text);
        reported.add(problem);
      }
    }
  }
  for (const word of Object.keys(status?.rest() ?? {}))
    status?.drop(word, `must be one of ${[...statusWords.keys()].join(", ")}`);
  return stated;
}

/** The shared state for making the statements of one vulnerability. */
interface Making {
  readonly fixes: Fixes;
  readonly numbers: ReadonlyMap<Detail, number>;
  readonly packer: ProductPacker;
}

function toStatement({ words, details, products }: Group, { fixes, numbers, packer }: Making): ProductStatement {
  const status = statusWords.get(words[0]!)!;
  const [{ product, release }] = products as [ReadProduct];
  const time = timeOf(status, details);
  const severities = details.flatMap((detail) => detail.severities).map((each) => create(RecordSeveritySchema, each));
  const subcomponents = distinct(products.map(({ subcomponent }) => subcomponent).filter((part) => part !== ""));
  const versions = distinct(products.flatMap((each) => each.versions));
  const packed = packer.pack(products, { product, versions, subcomponents });
  return create(ProductStatementSchema, {
    product,
    release,
    status,
    subcomponents,
    versions,
    ranges: [
      ...new Map(products.flatMap(({ ranges }) => ranges.map((range) => [JSON.stringify(range), range]))).values(),
      ...(status === ProductStatus.AFFECTED ? fixes.rangeOf(products[0]!) : []),
    ],
    ...readWords(status, details),
    ...(time && { time: time.timestamp }),
    severities: [...new Map(severities.map((each) => [`${each.type} ${each.score}`, each])).values()],
    extra: extraOf({
      words,
      products: packed,
      ...(details.length > 0 && { details: details.map((detail) => numbers.get(detail)!) }),
    }),
  });
}

/** Returns the reason of the status and the response to it, in the fields of a statement. */
function readWords(status: ProductStatus, details: readonly Detail[]) {
  const flag = details.find(({ kind }) => kind === "flags")?.json.label;
  const impacts = textsOf(details, "threats", ({ category }) => category === "impact");
  const remedies = details.filter(({ kind }) => kind === "remediations").map(({ json }) => json.category);
  const actions = textsOf(details, "remediations", () => true).filter(
    (text) => ![noAction, noFix, pendingFix].includes(text),
  );
  return {
    justification: typeof flag === "string" && status === ProductStatus.NOT_AFFECTED ? flag : "",
    impact: impacts.filter((text) => ![noReason, noAnalysis].includes(text)).join("\n"),
    action: actions.join("\n"),
    plan: planOf(status, remedies, impacts),
  };
}

function planOf(status: ProductStatus, remedies: readonly unknown[], impacts: readonly string[]): ResponsePlan {
  if (status === ProductStatus.UNDER_INVESTIGATION && impacts.includes(noAnalysis))
    return ResponsePlan.ANALYSIS_NOT_PLANNED;
  if (status !== ProductStatus.AFFECTED) return ResponsePlan.UNSPECIFIED;
  if (remedies.includes("no_fix_planned")) return ResponsePlan.FIX_NOT_PLANNED;
  return remedies.includes("none_available") ? ResponsePlan.PENDING_UPSTREAM_FIX : ResponsePlan.UNSPECIFIED;
}

function textsOf(details: readonly Detail[], kind: Detail["kind"], has: (json: JsonObject) => boolean): string[] {
  const texts = details.filter((detail) => detail.kind === kind && has(detail.json)).map(({ json }) => json.details);
  return distinct(texts.filter(isText).filter((text) => text !== ""));
}

/** Returns the time of the flag of a product that is not affected, or of the fix of a fixed one; the latest if there are several. */
function timeOf(status: ProductStatus, details: readonly Detail[]): ReadTime | undefined {
  const kind =
    status === ProductStatus.NOT_AFFECTED ? "flags" : status === ProductStatus.FIXED ? "remediations" : undefined;
  const dates = details.filter(
    (detail) => detail.kind === kind && (kind === "flags" || detail.json.category === "vendor_fix"),
  );
  const times = dates.flatMap(({ json: { date } }) => (typeof date === "string" ? (parseTime(date) ?? []) : []));
  return times.toSorted((a, b) => b.milliseconds - a.milliseconds)[0];
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
