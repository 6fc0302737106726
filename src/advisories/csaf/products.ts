// Turns the products of a CSAF document into those of records: identity, versions, release and the affected part.
import { create } from "@bufbuild/protobuf";
import { ProductSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject } from "../../base/json.ts";
import { isText } from "../document.ts";
import { splitModule } from "../modules.ts";
import { identityOf, parseProduct } from "../product.ts";
import { csafLimits } from "./limits.ts";
import { architectureOf } from "./purl.ts";
import type { ReadProduct } from "./read-product.ts";
import { fullNameOf, nameOfRelationship, relate } from "./relationships.ts";
import type { Branch, ProductTree, TreeProduct } from "./tree.ts";
import { type NamedVersions, parseRange } from "./vers.ts";
import { partCategories, placeCategories } from "./words.ts";

/** Reads the products of a document, each once. */
export class ProductReader {
  readonly #tree: ProductTree;
  readonly #read = new Map<string, ReadProduct | string>();
  readonly #idsOfDescriptions = new Map<string, string>();

  constructor(tree: ProductTree) {
    this.#tree = tree;
  }

  /** Returns the product of an id, or the reason why it cannot be read: a part of a sentence. */
  read(id: string, depth = 0): ReadProduct | string {
    const known = this.#read.get(id);
    if (known !== undefined) return known;
    if (depth > csafLimits.relationships)
      return `is a relationship of more than ${csafLimits.relationships} levels, or of itself`;
    const found = this.#tree.product(id);
    const described = found ? this.#describe(found, depth) : "is not in the product tree";
    const isKept = typeof described === "string" || textsOf(described).every(isText);
    const product = isKept ? described : "is named with characters that no text can have";
    this.#read.set(id, product);
    return product;
  }

  #describe(found: TreeProduct, depth: number): ReadProduct | string {
    const { category = "", part: partId = "", whole: wholeId = "" } = found.relationship ?? {};
    const isRelationship = [...partCategories, ...placeCategories].includes(category);
    if (!isRelationship) return this.#distinguish(found, describeProduct(found));
    const [part, whole] = [this.read(partId, depth + 1), this.read(wholeId, depth + 1)];
    if (typeof part === "string") return `names the product ${quote(partId)}, which ${part}`;
    if (typeof whole === "string") return `names the product ${quote(wholeId)}, which ${whole}`;
    return this.#distinguish(found, describeRelationship(found, category, part, whole));
  }

  /** Keeps two products with equal descriptions apart, by adding the id to the second one. */
  #distinguish({ id }: TreeProduct, read: ReadProduct | string): ReadProduct | string {
    if (typeof read === "string") return read;
    const problems = this.#tree.isAmbiguous(id)
      ? [...read.problems, "is defined more than once; the first definition counts"]
      : read.problems;
    if (read.json.category !== undefined) return { ...read, problems };
    const description = JSON.stringify(read.json);
    const other = this.#idsOfDescriptions.get(description);
    if (other === undefined) this.#idsOfDescriptions.set(description, id);
    return { ...read, problems, json: other === undefined ? read.json : { ...read.json, id } };
  }
}

/** Returns the texts of a product that a record has as they are. */
function textsOf({ product, versions, ranges, release, subcomponent }: ReadProduct): string[] {
  const boundaries = ranges.flatMap(({ events }) => events.map(({ version }) => version));
  return [product.name, product.purl, product.cpe, release, subcomponent, ...versions, ...boundaries];
}

function describeProduct({ json, branches }: TreeProduct): ReadProduct | string {
  const { problems, purl, cpe, helper } = readHelper(json.product_identification_helper);
  const name = typeof json.name === "string" ? json.name.trim() : "";
  const named = versionsIn(branches, name);
  const identified = purl ? identifyByPurl(purl, named) : cpe === "" ? undefined : identifyByCpe(cpe, name, named);
  const { product, release, versions, ranges } = identified ?? identifyByName(branches, name, named);
  if (identityOf(product) === "") return "has neither a name nor a package URL or CPE";
  if (identityOf(product).length > csafLimits.identifierLength)
    return `is identified by more than ${csafLimits.identifierLength} characters`;
  const described = {
    name,
    ...(branches.length > 0 && {
      branches: branches.map(([category, text]) => (text === name ? [category] : [category, text])),
    }),
    ...(helper && { helper }),
  };
  const architecture = architectureOf(product);
  return { product, versions, ranges, release, architecture, subcomponent: "", json: described, problems };
}

function readHelper(value: unknown) {
  if (!isJsonObject(value)) return { problems: [], purl: undefined, cpe: "", helper: undefined };
  const { purl: text, cpe: cpeText, ...others } = value;
  const purl = typeof text === "string" ? parseProduct(text) : undefined;
  const isCpe = typeof cpeText === "string" && /^cpe:(\/|2\.3:)/i.test(cpeText);
  const helper = { ...(purl && { purl: text }), ...(isCpe && { cpe: cpeText }), ...others };
  const problems = [
    ...(text === undefined || purl ? [] : ["has a purl that is not a package URL"]),
    ...(purl && purl.problem !== "" ? [`has a purl that is not valid: ${purl.problem}`] : []),
    ...(cpeText === undefined || isCpe ? [] : ["has a cpe that is not a CPE"]),
  ];
  return { problems, purl, cpe: isCpe ? cpeText : "", helper: Object.keys(helper).length > 0 ? helper : undefined };
}

/** Returns the versions that the last branch names; undefined when it names none. */
function versionsIn(branches: readonly Branch[], name: string): NamedVersions | undefined {
  const [category, text] = branches.at(-1) ?? ["", ""];
  if (category === "product_version_range") return parseRange(text);
  // Some publishers write the whole name of a product into its branch.
  return category === "product_version" && text !== name ? { versions: [text], ranges: [] } : undefined;
}

type Identified = NamedVersions & Pick<ReadProduct, "product" | "release">;

function identifyByPurl(
  { product: whole, version }: NonNullable<ReturnType<typeof parseProduct>>,
  named?: NamedVersions,
): Identified {
  const { product, release } = splitModule(whole);
  const isRange = named !== undefined && named.ranges.length > 0;
  if (version !== "" && !isRange) return { product, release, versions: [version], ranges: [] };
  const [, name = ""] = /\/([^/@?#]+)(?:$|[@?#])/.exec(product.purl) ?? [];
  const isVersion = named !== undefined && !named.versions.some((each) => each.startsWith(name));
  return isVersion ? { product, release, ...named } : { product, release, versions: [], ranges: [] };
}

function identifyByCpe(cpe: string, name: string, named?: NamedVersions): Identified {
  const product = create(ProductSchema, { cpe, name });
  const attributes = cpe.startsWith("cpe:/") ? cpe.split(":").slice(1) : cpe.split(/(?<!\\):/).slice(2);
  const version = attributes[3] ?? "";
  // With a version the CPE is of that version alone.
  const isOfAll = ["", "*", "-"].includes(version);
  const found = isOfAll && named ? named : { versions: [], ranges: named?.ranges ?? [] };
  return { product, release: "", ...found };
}

/** A product that has a name only is the one that the branches above its version name. */
function identifyByName(branches: readonly Branch[], name: string, named?: NamedVersions): Identified {
  const above = named ? joinNames(branches.slice(0, -1).map(([, text]) => text)) : "";
  if (above !== "") return { product: create(ProductSchema, { name: above }), release: "", ...named! };
  return { product: create(ProductSchema, { name }), release: "", versions: [], ranges: named?.ranges ?? [] };
}

/** Joins names, without those that the next one begins with: `Red Hat`, `Red Hat Linux`. */
function joinNames(names: readonly string[]): string {
  const trimmed = names.map((name) => name.trim()).filter((name) => name !== "");
  return trimmed.filter((name, i) => !(trimmed[i + 1] ?? "").startsWith(name)).join(" ");
}

function describeRelationship(
  found: TreeProduct,
  category: string,
  part: ReadProduct,
  whole: ReadProduct,
): ReadProduct | string {
  const own = readHelper(found.json.product_identification_helper);
  const name = typeof found.json.name === "string" ? found.json.name.trim() : "";
  const usual = nameOfRelationship(category, fullNameOf(part.json), fullNameOf(whole.json));
  const json = {
    ...(name !== usual && name !== "" && { name }),
    ...(own.helper && { helper: own.helper }),
    category,
    part: part.json,
    whole: whole.json,
  };
  const problems = [...part.problems, ...whole.problems, ...own.problems];
  // A relationship with a package URL of its own is the product that the package URL names.
  const named = own.purl && identifyByPurl(own.purl);
  const subject = named ? { ...part, ...named, architecture: architectureOf(named.product), subcomponent: "" } : part;
  const about = relate(category, subject, whole, named !== undefined);
  const isTooLong = [about.subcomponent, about.release].some((text) => text.length > csafLimits.identifierLength);
  if (isTooLong) return `is identified by more than ${csafLimits.identifierLength} characters`;
  return { ...about, json, problems };
}

function quote(id: string): string {
  return JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id);
}
