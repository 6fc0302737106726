// Products of other formats in the words of CSAF.

import { PackageURL } from "packageurl-js";
import type { Product, ProductStatement, VersionRange } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import { identityOf } from "../product.ts";
import { readPurl, versionedPurl } from "../purl.ts";
import { orderOf } from "../versions/order.ts";
import type { ProductJson } from "./read-product.ts";
import { rangeText } from "./vers.ts";

/** The versions of a product, its ranges or all of it, each as CSAF names it. */
export interface WrittenProducts {
  /** Returns the product in each version, or in all of them. */
  version(version: string): ProductJson[];
  /** Returns the product in a range; undefined for a range that says nothing. */
  range(range: VersionRange): ProductJson[] | undefined;
}

type About = Pick<ProductStatement, "release" | "subcomponents">;

/** Returns the products of a statement: those of its parts where it is about parts, and where they are installed. */
export function writeProducts(product: Product, { release, subcomponents }: About): WrittenProducts {
  const name = nameOf(product);
  const purlType = readPurl(product.purl)?.type ?? "";
  const order = orderOf(product);
  const finish = (whole: ProductJson): ProductJson[] => {
    const placed = release === "" ? whole : place(whole, product.ecosystem, release);
    if (subcomponents.length === 0) return [placed];
    return subcomponents.map((part) => ({ category: "default_component_of", part: partJson(part), whole: placed }));
  };
  return {
    version: (version) => finish(versionJson(product, name, version)),
    range: (range) => {
      const text = rangeText(range, purlType, order);
      if (text === undefined) return undefined;
      const branches = [
        ["product_name", name],
        ["product_version_range", text],
      ];
      return finish({ name: `${name} ${text}`, branches, ...helperOf(product.purl, product.cpe) });
    },
  };
}

function versionJson(product: Product, name: string, version: string): ProductJson {
  const helper = helperOf(versionedPurl(product.purl, version), product.cpe);
  if (version === "") return { name, ...helper };
  const full = { name: `${name} ${version}`, ...helper };
  return isVersionName(version)
    ? {
        ...full,
        branches: [
          ["product_name", name],
          ["product_version", version],
        ],
      }
    : full;
}

/** CSAF 2.0 §6.1.31: the name of a version must have none of these words. */
function isVersionName(text: string): boolean {
  const words = ["after", "all", "before", "earlier", "later", "prior", "versions"];
  return (
    !/[<>]/.test(text) &&
    !text
      .toLowerCase()
      .split(/\s/)
      .some((word) => words.includes(word))
  );
}

function place(product: ProductJson, ecosystem: string, release: string): ProductJson {
  const system = ecosystem || "release";
  const branches = [
    ["product_name", system],
    ["product_version", release],
  ];
  const whole = isVersionName(release) ? { name: `${system} ${release}`, branches } : { name: release };
  return { category: "installed_on", part: product, whole };
}

function partJson(text: string): ProductJson {
  const purl = readPurl(text);
  if (!purl) return { name: text, ...helperOf("", text) };
  const name = purl.namespace === "" ? purl.name : `${purl.namespace}/${purl.name}`;
  return { name: purl.version === "" ? name : `${name} ${purl.version}`, ...helperOf(text, "") };
}

function nameOf(product: Product): string {
  const purl = readPurl(product.purl);
  if (product.name !== "" && (purl !== undefined || product.cpe !== "")) return product.name;
  if (!purl) return identityOf(product);
  return purl.namespace === "" ? purl.name : `${purl.namespace}/${purl.name}`;
}

// CSAF 2.0 §3.1.3.3.1, from the schemas of CPE 2.2 and 2.3.
const attribute = String.raw`(?:\?*|\*?)(?:[\w.-]|\\[\\*?!"#$%&'()+,/:;<=>@[\]^${"`"}{|}~])+(?:\?*|\*?)|[*-]`;
const cpe23 = new RegExp(
  String.raw`^cpe:2\.3:[aho*-](?::(?:${attribute})){5}:(?:[a-zA-Z]{2,3}(?:-(?:[a-zA-Z]{2}|\d{3}))?|[*-])(?::(?:${attribute})){4}$`,
);
const cpe22 = /^cpe:\/[AHOaho]?(?::[\w.~%-]*){0,6}$/i;

function helperOf(purl: string, cpe: string): { readonly helper?: JsonObject } {
  const helper = { ...(isWritable(purl) && { purl }), ...((cpe23.test(cpe) || cpe22.test(cpe)) && { cpe }) };
  return Object.keys(helper).length > 0 ? { helper } : {};
}

/** CSAF 2.0 §6.1.13: a package URL that keeps the rules of its type. */
function isWritable(purl: string): boolean {
  try {
    return purl !== "" && PackageURL.fromString(purl) !== undefined;
  } catch {
    return false;
  }
}
