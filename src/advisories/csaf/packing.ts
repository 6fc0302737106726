// The products of a statement in its `extra`, in few bytes: a vendor may have fourteen thousand products in one vulnerability.
import { type JsonObject, scalarText } from "../../json.ts";
import { canonicalJson } from "../extra.ts";
import type { ProductJson } from "./products.ts";
import { canonicalPurl } from "./purl.ts";

/** Products as `extra` has them. */
export interface PackedProducts {
  /** Like ProductJson, with numbers in the place of what stands elsewhere, and without a whole that is that of the product before. */
  readonly products: readonly JsonObject[];
  /** The branches by their numbers. */
  readonly branches?: readonly NonNullable<ProductJson["branches"]>[];
}

/** The category that is left out. */
const usualCategory = "default_component_of";

/** Packs products. `subcomponents` are the parts that the statement names, in the order that it has them. */
export function packProducts(products: readonly ProductJson[], subcomponents: readonly string[]): PackedProducts {
  const numbers = new Map(subcomponents.map((text, i) => [text, i]));
  const branches = new Map<string, number>();
  const pack = ({ branches: path, helper, category, part, whole, ...rest }: ProductJson): JsonObject => ({
    ...rest,
    ...(path && { branches: numberIn(branches, JSON.stringify(path)) }),
    ...(helper && { helper: packHelper(helper, numbers) }),
    ...(category !== undefined && category !== usualCategory && { category }),
    ...(part && { part: pack(part) }),
    ...(whole && { whole: pack(whole) }),
  });
  const packed = withoutRepetition(products.map(pack));
  return {
    products: packed,
    ...(branches.size > 0 && { branches: [...branches.keys()].map((key) => JSON.parse(key)) }),
  };
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

function packHelper(helper: JsonObject, numbers: ReadonlyMap<string, number>): JsonObject {
  const number = typeof helper.purl === "string" ? numbers.get(canonicalPurl(helper.purl)) : undefined;
  return number === undefined ? helper : { ...helper, purl: number };
}

/** Unpacks what `packProducts` has packed. */
export function unpackProducts(
  { products, branches = [] }: PackedProducts,
  subcomponents: readonly string[],
): ProductJson[] {
  const unpack = ({ branches: number, helper, category, part, whole, ...rest }: JsonObject): ProductJson => ({
    ...rest,
    ...(typeof number === "number" && { branches: branches[number]! }),
    ...(helper !== undefined && { helper: unpackHelper(helper as JsonObject, subcomponents) }),
    ...(part !== undefined && {
      ...{
        category: scalarText(category) || usualCategory,
        part: unpack(part as JsonObject),
        whole: unpack(whole as JsonObject),
      },
    }),
  });
  let before: unknown;
  return products.map((product) => {
    before = product.whole ?? before;
    return unpack(product.part === undefined ? product : { ...product, whole: before });
  });
}

function unpackHelper(helper: JsonObject, subcomponents: readonly string[]): JsonObject {
  return typeof helper.purl === "number" ? { ...helper, purl: subcomponents[helper.purl] } : helper;
}
