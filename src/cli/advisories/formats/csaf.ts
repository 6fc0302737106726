// CSAF 2.0, profile VEX: which products are fixed, affected, not affected or under investigation.
import { Severity_Type } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { derivedId } from "../../../services/vulnerabilities/advisory-fields.ts";
import { BadDocument, list, members, requiredText, text, texts, time } from "../document.ts";
import { artifactOf, ownComponentOf, parsePurl } from "../purl.ts";
import type { Reader } from "../reader.ts";
import type { Artifact, Component, EventType, Found, SeverityInit } from "../record.ts";
import { falsePositive, fixedIn, noted, reasonOf, reasonWords, underInvestigation } from "../statuses.ts";

/** Product trees deeper than this are refused. */
const maxDepth = 40;

/** A product of the tree. */
interface Product {
  readonly artifact: Artifact;
  readonly component?: Component | undefined;
  readonly version: string;
}

/** Whether a document is of this format. */
export function isCsaf(document: unknown): boolean {
  return isJsonObject(document) && isJsonObject(document.document) && String(document.document.csaf_version) === "2.0";
}

/** Reads a document: one advisory for each product and vulnerability. */
export const readCsaf: Reader = function* (document, options) {
  const root = members(document, "the document");
  const head = members(root.document, "document");
  const publisher = isJsonObject(head.publisher) ? text(head.publisher.name, "publisher.name") : "";
  const tracking = isJsonObject(head.tracking) ? head.tracking : {};
  const at = time(tracking.current_release_date, "current_release_date");
  const tree = isJsonObject(root.product_tree) ? root.product_tree : {};
  const products = { all: productsOf(tree), groups: groupsOf(tree) };
  const author = options.author || publisher || "csaf";
  for (const [i, item] of list(root.vulnerabilities, "vulnerabilities").entries()) {
    const name = isJsonObject(item) && typeof item.cve === "string" ? item.cve : `vulnerability ${i + 1}`;
    yield { name, read: () => readVulnerability(members(item, "a vulnerability"), products, author, at) };
  }
};

/** The products by their ids: those of the list, of the branches, and those made of others. */
function productsOf(tree: JsonObject): Map<string, Product> {
  const found = new Map<string, Product>();
  const add = (value: unknown) => {
    const product = members(value, "a product");
    found.set(requiredText(product.product_id, "product_id"), productOf(product));
  };
  for (const product of list(tree.full_product_names, "full_product_names")) add(product);
  const walk = (branches: unknown, depth: number) => {
    if (depth > maxDepth) throw new BadDocument(`the product tree is more than ${maxDepth} levels deep`);
    for (const item of list(branches, "branches")) {
      const branch = members(item, "a branch");
      if (branch.product !== undefined) add(branch.product);
      walk(branch.branches, depth + 1);
    }
  };
  walk(tree.branches, 1);
  for (const item of list(tree.relationships, "relationships")) {
    const relationship = members(item, "a relationship");
    add(relationship.full_product_name);
    // A component of a product is the component, as far as advisories are concerned.
    const whole = members(relationship.full_product_name, "full_product_name");
    const part = found.get(text(relationship.product_reference, "product_reference"));
    if (part && !isJsonObject(whole.product_identification_helper)) found.set(String(whole.product_id), part);
  }
  return found;
}

/** CSAF 2.0 §3.2.2.4: products that are named together, by the ids of their groups. */
function groupsOf(tree: JsonObject): Map<string, readonly string[]> {
  return new Map(
    list(tree.product_groups, "product_groups").map((item) => {
      const { group_id: id, product_ids: products } = members(item, "a product group");
      return [requiredText(id, "group_id"), texts(products, "product_ids")];
    }),
  );
}

function productOf(product: JsonObject): Product {
  const helper = isJsonObject(product.product_identification_helper) ? product.product_identification_helper : {};
  const purl = parsePurl(text(helper.purl, "purl"));
  if (purl) return { artifact: artifactOf(purl), component: ownComponentOf(purl), version: purl.version };
  return { artifact: { name: requiredText(product.name, "name"), type: "" }, version: "" };
}

/** All products of a document. */
interface Products {
  readonly all: ReadonlyMap<string, Product>;
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

/** What a status makes of a product. */
type Status = (product: Product, details: Details) => EventType;

/** What else a vulnerability says of a product. */
interface Details {
  readonly note: string;
  readonly flag: string;
  readonly remedies: ReadonlyMap<string, string>;
  readonly severities: readonly SeverityInit[];
}

const affected: Status = (_product, { remedies }) => {
  if (remedies.has("no_fix_planned")) return noted("fixNotPlanned", remedies.get("no_fix_planned")!);
  if (remedies.has("none_available")) return noted("pendingUpstreamFix", remedies.get("none_available")!);
  return noted("truePositiveDetermination", [...remedies.values()][0] ?? "");
};
const fixed: Status = ({ version }) => fixedIn(version);

/**
 * By the words of CSAF 2.0 §3.2.3.9, the later ones later. The versions of one package may be in several states, which a
 * document names in any order: an older one that was not affected yet, one that is, and the one that fixes it.
 */
const statuses: ReadonlyMap<string, Status> = new Map<string, Status>([
  ["known_not_affected", (_product, { flag, note }) => falsePositive(reasonWords.get(note) ?? reasonOf(flag))],
  [
    "under_investigation",
    (_product, { note }) => (note === "analysis-not-planned" ? noted("analysisNotPlanned", "") : underInvestigation),
  ],
  ["first_affected", affected],
  ["known_affected", affected],
  ["last_affected", affected],
  ["first_fixed", fixed],
  ["fixed", fixed],
  ["recommended", fixed],
]);

const ranks = [...statuses.keys()];

function readVulnerability(
  vulnerability: JsonObject,
  products: Products,
  author: string,
  documentTime: number | undefined,
): Found[] {
  const ids = list(vulnerability.ids, "ids").map((id) => text(members(id, "an id").text, "text"));
  const aliases = [text(vulnerability.cve, "cve"), ...ids].filter((id) => id !== "");
  const [name] = aliases;
  if (name === undefined) throw new BadDocument("it has neither a CVE nor another id");
  const at = time(vulnerability.release_date, "release_date") ?? documentTime;
  const detailsOf = detailsIn(vulnerability, products.groups);
  const found = new Map<string, Found>();
  for (const [status, uids] of statusesOf(vulnerability)) {
    const toType = statuses.get(status);
    if (!toType) throw new BadDocument(`the product status ${status.slice(0, 40)} is not known`);
    for (const productId of texts(uids, status)) {
      const product = products.all.get(productId);
      if (!product) throw new BadDocument(`the product ${productId.slice(0, 100)} is not in the product tree`);
      const details = detailsOf(productId);
      // A document says what is so when it is released, and not since when.
      const event = { time: undefined, type: toType(product, details) };
      const { artifact, component } = product;
      const id = derivedId(artifact, name);
      const known = found.get(id);
      // Products that are one artifact, such as its versions, are one advisory.
      const severities = distinct([...(known?.severities ?? []), ...details.severities]);
      const about = { artifact, ...(component ? { component } : {}) };
      const times = { published: at, modified: documentTime ?? at };
      const base = { id, author, ...about, ...times, aliases, severities, origin: artifact.name };
      found.set(id, { ...base, events: [...(known?.events ?? []), event] });
    }
  }
  return [...found.values()];
}

function statusesOf({ product_status: value }: JsonObject) {
  const said = Object.entries(members(value ?? {}, "product_status"));
  return said.toSorted(([a], [b]) => ranks.indexOf(a) - ranks.indexOf(b));
}

/** Reads what a vulnerability says of its products once, however many they are. */
function detailsIn(
  { flags, threats, remediations, scores }: JsonObject,
  groups: Products["groups"],
): (productId: string) => Details {
  // All but scores may name groups in place of products, or beside them.
  const named = ({ product_ids: own, group_ids: together }: JsonObject) => [
    ...texts(own, "product_ids"),
    ...texts(together, "group_ids").flatMap((id) => groups.get(id) ?? []),
  ];
  const flagsOf = byProduct(flags, "flags", named, ({ label }) => text(label, "label"));
  const notesOf = byProduct(threats, "threats", named, ({ details }) => text(details, "details"));
  const remediesOf = byProduct(
    remediations,
    "remediations",
    named,
    ({ category, details }) => [text(category, "category"), text(details, "details")] as const,
  );
  const scored = ({ products }: JsonObject) => texts(products, "products");
  const severitiesOf = byProduct(scores, "scores", scored, ({ cvss_v2: v2, cvss_v3: v3 }) => [
    ...vector(v2, Severity_Type.CVSS_V2),
    ...vector(v3, Severity_Type.CVSS_V3),
  ]);
  return (productId) => ({
    note: notesOf(productId)[0] ?? "",
    flag: flagsOf(productId)[0] ?? "",
    remedies: new Map(remediesOf(productId)),
    severities: severitiesOf(productId).flat(),
  });
}

/** What the items of a list say, by the products that each of them names. */
function byProduct<T>(
  value: unknown,
  what: string,
  about: (item: JsonObject) => readonly string[],
  read: (item: JsonObject) => T,
): (productId: string) => readonly T[] {
  const found = new Map<string, T[]>();
  for (const item of list(value, what)) {
    const said = members(item, `an item of ${what}`);
    const products = new Set(about(said));
    if (products.size === 0) continue;
    const meaning = read(said);
    for (const product of products) {
      const known = found.get(product);
      if (known) known.push(meaning);
      else found.set(product, [meaning]);
    }
  }
  return (productId) => found.get(productId) ?? [];
}

function distinct(severities: readonly SeverityInit[]): SeverityInit[] {
  return [...new Map(severities.map((severity) => [`${severity.type} ${severity.score}`, severity])).values()];
}

function vector(cvss: unknown, type: Severity_Type): SeverityInit[] {
  const score = isJsonObject(cvss) ? text(cvss.vectorString, "vectorString") : "";
  return score === "" ? [] : [{ type, score }];
}
