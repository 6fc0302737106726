// What identifies a product: the package URL without version, or else its CPE, or its name in an ecosystem.
import { create } from "@bufbuild/protobuf";
import { PackageURL } from "packageurl-js";
import { type Product, ProductSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";

/** A product and the version of it that a package URL names; the version is empty when it names all. */
export interface VersionedProduct {
  readonly product: Product;
  readonly version: string;
}

/** Parses a package URL; undefined when it is none. */
export function parseProduct(purl: string): VersionedProduct | undefined {
  try {
    const { type, namespace, name, version, qualifiers } = PackageURL.fromString(purl);
    const canonical = new PackageURL(type ?? "", namespace, name ?? "", undefined, qualifiers, undefined).toString();
    return { product: create(ProductSchema, { purl: canonical }), version: version ?? "" };
  } catch {
    return undefined;
  }
}

/** The text that two products have in common exactly when they are the same product. */
export function identityOf({ purl, cpe, ecosystem, name }: Product): string {
  if (purl !== "") return purl;
  if (cpe !== "") return cpe;
  return ecosystem === "" ? name : `${ecosystem}:${name}`;
}
