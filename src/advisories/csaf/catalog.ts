// The product tree of an export: every product that it names, once, under an id of its own.

import type { JsonObject } from "../../base/json.ts";
import { nextSlice } from "../../base/slices.ts";
import { canonicalJson } from "../extra.ts";
import type { ProductJson } from "./read-product.ts";
import { fullNameOf } from "./relationships.ts";

/** A branch of the tree: branches by category and name, and the numbers of products. */
interface Node {
  readonly branches: Map<string, Node>;
  readonly products: [branch: readonly string[], number: number][];
}

/** Collects products, and writes the product tree. Its memory grows with the number of different products. */
export class Catalog {
  /** The number of each product, by its canonical JSON. */
  readonly #numbers = new Map<string, number>();

  /** Returns the number of a product. The same product has the same number. */
  numberOf(product: ProductJson): number {
    const text = canonicalJson(product);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (product.part && product.whole) for (const each of [product.part, product.whole]) this.numberOf(each);
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }

  /** Returns the members of `product_tree`, in parts of their text. */
  async *write(): AsyncGenerator<string> {
    const texts = [...this.#numbers.keys()];
    const products = function* (): Generator<[ProductJson, number]> {
      for (const [number, text] of texts.entries()) yield [JSON.parse(text), number];
    };
    const root = newNode();
    for (const [{ branches = [], part, name = "" }, number] of products()) {
      await nextSlice();
      if (!part && branches.length > 0) addBranch(root, branches, name, number);
    }
    const nameOf = (number: number) => nameJson(JSON.parse(texts[number]!), number);
    const outside = function* () {
      for (const [{ branches = [], part }, number] of products())
        if (!part && branches.length === 0) yield JSON.stringify(nameOf(number));
    };
    const relationships = this.#writeRelationships(products());
    let separator = "{";
    for (const [name, items] of [
      ["branches", writeBranches(root, nameOf)],
      ["full_product_names", outside()],
      ["relationships", relationships],
    ] as const) {
      let isEmpty = true;
      for (const item of items) {
        await nextSlice();
        yield `${isEmpty ? `${separator}\n${JSON.stringify(name)}: [` : ","}\n${item}`;
        isEmpty = false;
        separator = ",";
      }
      if (!isEmpty) yield "\n]";
    }
    yield "\n}";
  }

  *#writeRelationships(products: Iterable<[ProductJson, number]>): Generator<string> {
    for (const [product, number] of products) {
      const { category, part, whole } = product;
      if (!part || !whole) continue;
      const [product_reference, relates_to_product_reference] = [part, whole].map((each) => idOf(this.numberOf(each)));
      const full_product_name = nameJson(product, number);
      yield JSON.stringify({ category, full_product_name, product_reference, relates_to_product_reference });
    }
  }
}

/** Returns the product id of a number. */
export function idOf(number: number): string {
  return `CSAFPID-${String(number + 1).padStart(4, "0")}`;
}

function nameJson(product: ProductJson, number: number): JsonObject {
  const { purl, cpe } = product.helper ?? {};
  const name = fullNameOf(product) || String(purl ?? cpe ?? idOf(number));
  return {
    product_id: idOf(number),
    name,
    ...(product.helper && { product_identification_helper: product.helper }),
  };
}

function newNode(): Node {
  return { branches: new Map(), products: [] };
}

function addBranch(root: Node, branches: readonly (readonly string[])[], name: string, number: number): void {
  // The name of a branch that is that of its product was left out.
  const path = branches.map(([category = "", text = name]) => [category, text]);
  let node = root;
  for (const branch of path.slice(0, -1)) {
    const key = JSON.stringify(branch);
    const next = node.branches.get(key) ?? newNode();
    node.branches.set(key, next);
    node = next;
  }
  node.products.push([path.at(-1)!, number]);
}

/** Each branch of the root as one text: a branch of a vendor has everything of the vendor. */
function* writeBranches(node: Node, nameOf: (number: number) => JsonObject): Generator<string> {
  for (const [[category, name], number] of node.products)
    yield JSON.stringify({ category, name, product: nameOf(number) });
  for (const [key, inner] of node.branches) {
    const [category, name] = JSON.parse(key) as [string, string];
    yield `${JSON.stringify({ category, name }).slice(0, -1)},"branches":[${[...writeBranches(inner, nameOf)].join(",\n")}]}`;
  }
}
