// The product tree of a CSAF document, which defines its product ids.
import { isJsonObject, type JsonObject, scalarText } from "../../base/json.ts";
import { BadDocument } from "../document.ts";
import { csafLimits } from "./limits.ts";

/** The category and the name of a branch. */
export type Branch = readonly [category: string, name: string];

/** A product of the tree, as the document describes it. */
export interface TreeProduct {
  readonly id: string;
  /** The full product name, with its `product_identification_helper`. */
  readonly json: JsonObject;
  /** The branches from the root of the tree; empty for a product outside of branches. */
  readonly branches: readonly Branch[];
  /** The two products that this one combines, for a relationship such as "package on platform". */
  readonly relationship?: { readonly category: string; readonly part: string; readonly whole: string } | undefined;
}

/** The products and groups of a document by their ids. The reader of a status reports ids that are missing here. */
export class ProductTree {
  readonly #products = new Map<string, TreeProduct>();
  readonly #groups = new Map<string, readonly string[]>();
  readonly #ambiguous = new Set<string>();

  /** Takes time and memory in proportion to the size of the tree. Throws BadDocument for branches that are too deep. */
  constructor(tree: unknown) {
    if (!isJsonObject(tree)) return;
    for (const json of objectsIn(tree.full_product_names)) this.#add(json, []);
    this.#addBranches(tree.branches, []);
    for (const { full_product_name: json, category, ...references } of objectsIn(tree.relationships)) {
      const [part, whole] = [references.product_reference, references.relates_to_product_reference];
      if (isJsonObject(json) && typeof category === "string" && typeof part === "string" && typeof whole === "string")
        this.#add(json, [], { category, part, whole });
    }
    for (const { group_id: id, product_ids: products } of objectsIn(tree.product_groups)) {
      if (typeof id === "string" && Array.isArray(products))
        this.#groups.set(
          id,
          products.filter((each): each is string => typeof each === "string"),
        );
    }
  }

  /** Returns the product of an id; undefined when the tree does not define it. */
  product(id: string): TreeProduct | undefined {
    return this.#products.get(id);
  }

  /** Returns the ids of the products of a group; undefined when the tree does not define it. */
  group(id: string): readonly string[] | undefined {
    return this.#groups.get(id);
  }

  /** Whether several products have the id, which CSAF 2.0 §6.1.2 forbids. The first of them counts. */
  isAmbiguous(id: string): boolean {
    return this.#ambiguous.has(id);
  }

  #addBranches(value: unknown, path: readonly Branch[]): void {
    if (path.length > csafLimits.branches)
      throw new BadDocument(`product_tree.branches are more than ${csafLimits.branches} levels deep`);
    for (const { category, name, product, branches } of objectsIn(value)) {
      const here = [...path, [scalarText(category), scalarText(name)] as const];
      if (isJsonObject(product)) this.#add(product, here);
      if (branches !== undefined) this.#addBranches(branches, here);
    }
  }

  #add(json: JsonObject, branches: readonly Branch[], relationship?: TreeProduct["relationship"]): void {
    const { product_id: id } = json;
    if (typeof id !== "string") return;
    if (this.#products.has(id)) this.#ambiguous.add(id);
    else this.#products.set(id, { id, json, branches, relationship });
  }
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
