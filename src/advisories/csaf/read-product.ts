// A product of a CSAF document as the reader hands it on.
import type { Product, VersionRange } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";

/** A product that was read. */
export interface ReadProduct {
  readonly product: Product;
  /** Neither versions nor ranges means all versions of the product. */
  readonly versions: readonly string[];
  readonly ranges: readonly VersionRange[];
  /** The platform or the module that the product is for; empty means everywhere. */
  readonly release: string;
  /** The architecture that its package URL names; empty for all. */
  readonly architecture: string;
  /** The part of the product that is meant; empty means the product itself. */
  readonly subcomponent: string;
  /** The product in the words of CSAF. */
  readonly json: ProductJson;
  /** Problems with the product: values that were dropped, as texts for the report. */
  readonly problems: readonly string[];
}

/** A product in the words of CSAF, without ids. */
export interface ProductJson {
  /** Left out where `nameOfPart` makes it. */
  readonly name?: string;
  /** The last one has no name where it is that of the product. */
  readonly branches?: readonly (readonly string[])[];
  /** `product_identification_helper`. */
  readonly helper?: JsonObject;
  /** The category of a relationship, the part and the whole of it. */
  readonly category?: string;
  readonly part?: ProductJson;
  readonly whole?: ProductJson;
  /** The id of the product, where another one has the same description. */
  readonly id?: string;
}
