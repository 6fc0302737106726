// The products of a statement in its `extra`, in few bytes: a vendor may have fourteen thousand products in one vulnerability.
import type { ProductStatement } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { type JsonObject, scalarText } from "../../base/json.ts";
import { canonicalJson } from "../extra.ts";
import { canonicalPurl } from "./purl.ts";
import type { ProductJson, ReadProduct } from "./read-product.ts";

/** Paths of branches, which all statements of a record share. */
export type Branches = NonNullable<ProductJson["branches"]>;

/** The fields of a statement that packed products refer to instead of repeating their texts. */
export type Named = Pick<ProductStatement, "product" | "versions" | "subcomponents">;

/** The category that is left out. */
const usualCategory = "default_component_of";

/** Packs the products of the statements of one record. */
export class ProductPacker {
  readonly #branches = new Map<string, number>();

  /** Returns the paths of branches by the numbers that packed products have in their place. */
  branches(): Branches[] {
    return [...this.#branches.keys()].map((key) => JSON.parse(key));
  }

  /**
   * Returns products like ProductJson, with numbers and marks for texts that stand elsewhere, and without a whole that equals that of the
   * product before.
   */
  pack(products: readonly ReadProduct[], named: Named): JsonObject[] {
    const numbers = new Map(named.subcomponents.map((text, i) => [text, i]));
    const versions = new Map(named.versions.map((text, i) => [text, i]));
    return withoutRepetition(
      products.map(({ json, versions: [version = ""] }) => {
        const number = versions.get(version) ?? 0;
        const marks = marksOf(named, number);
        return { ...this.#pack(json, numbers, marks), ...(number > 0 && { version: number }) };
      }),
    );
  }

  #pack(json: ProductJson, numbers: ReadonlyMap<string, number>, marks: Marks): JsonObject {
    const { branches: path, helper, category, part, whole, name, ...rest } = json;
    return {
      ...rest,
      ...(name !== undefined && { name: shorten(name, marks) }),
      ...(path && { branches: numberIn(this.#branches, JSON.stringify(path)) }),
      ...(helper && { helper: packHelper(helper, numbers, marks) }),
      ...(category !== undefined && category !== usualCategory && { category }),
      ...(part && { part: this.#pack(part, numbers, marks) }),
      ...(whole && { whole: this.#pack(whole, numbers, marks) }),
    };
  }
}

/** Leaves out a whole that is that of the product before. */
function withoutRepetition(products: readonly JsonObject[]): JsonObject[] {
  let before = "";
  return products.map((product) => {
    const text = product.whole === undefined ? "" : canonicalJson(product.whole);
    const isSame = text !== "" && text === before;
    before = text;
    const { whole: _, ...rest } = product;
    return isSame ? rest : product;
  });
}

function numberIn(numbers: Map<string, number>, key: string): number {
  const number = numbers.get(key) ?? numbers.size;
  numbers.set(key, number);
  return number;
}

function packHelper(helper: JsonObject, numbers: ReadonlyMap<string, number>, marks: Marks): JsonObject {
  if (typeof helper.purl !== "string") return helper;
  return { ...helper, purl: numbers.get(canonicalPurl(helper.purl)) ?? shorten(helper.purl, marks) };
}

/** Replacements for texts that the statement already has: `§b` for the package URL, `§v` and `§e` for the version. */
type Marks = readonly (readonly [mark: string, text: string])[];

function marksOf({ product, versions }: Named, number: number): Marks {
  // Most names do not contain the epoch.
  const version = (versions[number] ?? "").replace(/^\d+:/, "");
  const [base = ""] = (product?.purl ?? "").split("?");
  const texts = [
    ["b", base],
    ["v", version],
    ["e", encodeURIComponent(version)],
  ] as const;
  return texts.filter(([, text]) => text.length > 2);
}

function shorten(text: string, marks: Marks): string {
  return marks.reduce((short, [mark, long]) => short.replaceAll(long, `§${mark}`), text.replaceAll("§", "§§"));
}

function lengthen(text: string, marks: Marks): string {
  return text.replace(/§(.)/g, (_, mark: string) =>
    mark === "§" ? mark : (marks.find(([each]) => each === mark)?.[1] ?? ""),
  );
}

/** Restores products that `ProductPacker` has packed. */
export function unpackProducts(
  products: readonly JsonObject[],
  branches: readonly Branches[],
  named: Named,
): ProductJson[] {
  const unpack = (packed: JsonObject, marks: Marks): ProductJson => {
    const { branches: number, helper, category, part, whole, name, version: _, ...rest } = packed;
    return {
      ...rest,
      ...(typeof name === "string" && { name: lengthen(name, marks) }),
      ...(typeof number === "number" && { branches: branches[number]! }),
      ...(helper !== undefined && { helper: unpackHelper(helper as JsonObject, named.subcomponents, marks) }),
      ...(part !== undefined && {
        category: scalarText(category) || usualCategory,
        part: unpack(part as JsonObject, marks),
        whole: unpack(whole as JsonObject, marks),
      }),
    };
  };
  let before: unknown;
  return products.map((product) => {
    before = product.whole ?? before;
    const marks = marksOf(named, Number(product.version ?? 0));
    return unpack(product.part === undefined ? product : { ...product, whole: before }, marks);
  });
}

function unpackHelper(helper: JsonObject, subcomponents: readonly string[], marks: Marks): JsonObject {
  if (typeof helper.purl === "number") return { ...helper, purl: subcomponents[helper.purl] };
  return typeof helper.purl === "string" ? { ...helper, purl: lengthen(helper.purl, marks) } : helper;
}
