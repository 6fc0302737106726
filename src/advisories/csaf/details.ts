// Reads and writes the per-product members of a vulnerability besides its status: flags, threats, remediations and scores.
import type { RecordSeverity } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { parseCvss } from "../cvss.ts";
import { BadRecord, type Members } from "../document.ts";
import { csafLimits } from "./limits.ts";
import type { ProductTree } from "./tree.ts";
import { flagLabels, remediationCategories } from "./words.ts";

/** The lists of a vulnerability whose items name products. */
export const detailKinds = ["flags", "threats", "remediations", "scores"] as const;
export type DetailKind = (typeof detailKinds)[number];

/** An item of such a list. */
export interface Detail {
  readonly kind: DetailKind;
  /** The item without the products that it names. */
  readonly json: JsonObject;
  /** The scores of an item of `scores`. */
  readonly severities: readonly Pick<RecordSeverity, "type" | "score">[];
}

/** The items of a vulnerability. */
export interface Details {
  /** The items that name no product, such as a threat to all of them. */
  readonly general: readonly Detail[];
  /** Returns the items that name a product, in the order of the document. */
  of(productId: string): readonly Detail[];
}

/** Reads the items. Each list of products is read once, however many products it has. */
export function readDetails(vulnerability: Members, tree: ProductTree, hasStatus: ReadonlySet<string>): Details {
  const general: Detail[] = [];
  const byProduct = new Map<string, Detail[]>();
  let named = 0;
  for (const kind of detailKinds) {
    for (const item of vulnerability.objects(kind)) {
      const products = new Set(productsOf(item, tree));
      named += products.size;
      if (named > csafLimits.references)
        throw new BadRecord(kind, `name products more often than the limit of ${csafLimits.references}`);
      const detail = readDetail(kind, item);
      if (!detail) continue;
      const known = [...products].filter((id) => hasStatus.has(id));
      const unknown = products.size - known.length;
      if (unknown > 0) item.drop("", `names ${unknown} products without a status`);
      if (products.size === 0 && kind === "threats") general.push(detail);
      else if (products.size === 0) item.drop("", "must name products");
      for (const id of known) {
        const details = byProduct.get(id);
        if (details) details.push(detail);
        else byProduct.set(id, [detail]);
      }
    }
  }
  return { general, of: (id) => byProduct.get(id) ?? [] };
}

function productsOf(item: Members, tree: ProductTree): string[] {
  const own = ["product_ids", "products"].flatMap((name) => item.texts(name, csafLimits.products));
  const together = item.texts("group_ids").flatMap((id) => {
    const products = tree.group(id);
    if (!products)
      item.drop("group_ids", `names the group ${JSON.stringify(id.slice(0, 100))}, which is not in the product tree`);
    return products ?? [];
  });
  return [...own, ...together];
}

function readDetail(kind: DetailKind, item: Members): Detail | undefined {
  const json = item.rest();
  if (kind === "scores") return readScore(item, json);
  const [member, words] = wordOf[kind];
  const word = json[member];
  const isKnown = typeof word === "string" && (words.length === 0 || words.includes(word));
  if (!isKnown) item.drop(member, words.length === 0 ? "must be a text" : `must be one of ${words.join(", ")}`);
  return isKnown ? { kind, json, severities: [] } : undefined;
}

/** The member that has the category of an item, and the allowed categories. Those of threats are free. */
const wordOf = {
  flags: ["label", flagLabels],
  remediations: ["category", remediationCategories],
  threats: ["category", [] as readonly string[]],
} as const;

/** CSAF 2.0 §3.2.3.13. Some publishers add `cvss_v4` as CSAF 2.1 has it. */
function readScore(item: Members, json: JsonObject): Detail | undefined {
  const kept: Record<string, unknown> = { ...json };
  const severities = ["cvss_v2", "cvss_v3", "cvss_v4"].flatMap((name) => {
    const cvss = json[name];
    if (cvss === undefined || cvss === null) return [];
    const vector = isJsonObject(cvss) ? cvss.vectorString : undefined;
    const parsed = typeof vector === "string" ? parseCvss(vector) : undefined;
    if (parsed) return [{ type: parsed.type, score: parsed.vector }];
    item.drop(`${name}.vectorString`, "must be a vector of CVSS");
    delete kept[name];
    return [];
  });
  return Object.keys(kept).length > 0 ? { kind: "scores", json: kept, severities } : undefined;
}
