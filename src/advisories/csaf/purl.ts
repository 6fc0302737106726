// Package URLs with versions.
import { PackageURL } from "packageurl-js";
import { parseProduct } from "../product.ts";

/** A package URL with a version. */
export function versionedPurl(purl: string, version: string): string {
  if (version === "") return purl;
  const { type, namespace, name, qualifiers } = PackageURL.fromString(purl);
  return new PackageURL(type ?? "", namespace, name ?? "", version, qualifiers, undefined).toString();
}

/** A package URL in its canonical form; empty for what is none, and for one of a part of a package. */
export function canonicalPurl(purl: string): string {
  const parsed = purl.includes("#") ? undefined : parseProduct(purl);
  return parsed ? versionedPurl(parsed.product.purl, parsed.version) : "";
}
