// Package URLs of builds and platforms.
import { create } from "@bufbuild/protobuf";
import { type Product, ProductSchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readPurl, writePurl } from "../purl.ts";

/** Returns a package URL in its canonical form, with all of its qualifiers; empty if the text is not a package URL. */
export function canonicalPurl(text: string): string {
  const parsed = readPurl(text);
  return parsed ? writePurl(parsed) : "";
}

/** Architectures that stand for all. */
const everyArchitecture: readonly string[] = ["noarch", "src", "source", "all"];

/** Returns the architecture that a package URL names; empty for none, and for all. */
export function architectureOf({ purl }: Product): string {
  const arch = readPurl(purl)?.qualifiers.get("arch") ?? "";
  return everyArchitecture.includes(arch) ? "" : arch;
}

/**
 * Returns a package of a platform without its architecture, where it is a build: a platform has a build for each of them, of one version
 * and one source. The digest of an image tells its architecture and tag.
 */
export function withoutBuild(product: Product, versions: readonly string[]): Product {
  const purl = readPurl(product.purl);
  if (!purl || (versions.length === 0 && architectureOf(product) !== "")) return product;
  const isDigest = (version: string) => /^sha(256|512):/.test(version);
  const dropped = versions.length > 0 && versions.every(isDigest) ? ["arch", "tag"] : ["arch"];
  const qualifiers = new Map([...purl.qualifiers].filter(([key]) => !dropped.includes(key)));
  return create(ProductSchema, { ...product, purl: writePurl({ ...purl, qualifiers }) });
}
