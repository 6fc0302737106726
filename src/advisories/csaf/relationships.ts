// Turns relationships of a CSAF product tree into products of records: a package on a platform, or a part of a product.
import { joinReleases, releaseOfModule } from "../modules.ts";
import { versionedPurl } from "../purl.ts";
import { withoutBuild } from "./purl.ts";
import type { ProductJson, ReadProduct } from "./read-product.ts";
import { placeCategories } from "./words.ts";

type About = Omit<ReadProduct, "json" | "problems">;

/** Returns the product that a relationship describes. `isNamed`: the relationship has its own package URL, which `part` then carries. */
export function relate(category: string, part: ReadProduct, whole: ReadProduct, isNamed: boolean): About {
  const platform = platformOf(whole);
  if (placeCategories.includes(category))
    return placedOn(part, whole.versions[0] ?? platform ?? fullNameOf(whole.json));
  if (part.product.purl !== "" && platform !== undefined)
    return placedOn({ ...part, product: withoutBuild(part.product, part.versions) }, platform);
  if (isNamed) return placedOn(part, "");
  const { product, versions, ranges, release, architecture } = whole;
  return { product, versions, ranges, release, architecture, subcomponent: subcomponentOf(part) };
}

/**
 * Returns the release that a platform is for its packages; undefined for a product in which scanners find the parts themselves, such as
 * an image. A platform has no package URL, or is a module of a distribution: its packages are installed and asked for by themselves.
 */
function platformOf({ product, versions, ranges, release, subcomponent, json }: ReadProduct): string | undefined {
  const module = releaseOfModule(product.purl, versions[0] ?? "");
  if (product.purl !== "" && module === undefined) return undefined;
  const isOfCpe = product.cpe !== "" && versions.length + ranges.length === 0;
  const own = module ?? (isOfCpe ? product.cpe : subcomponent === "" ? fullNameOf(json) : product.name);
  return joinReleases(release, own, subcomponent);
}

function placedOn({ json: _, problems: _p, release, ...about }: ReadProduct, on: string): About {
  return { ...about, release: joinReleases(release, on) };
}

/** Returns the text that stands for a part: the part of the part, else its package URL with the version, its CPE or its name. */
function subcomponentOf({ product, versions, ranges, subcomponent, json }: ReadProduct): string {
  if (subcomponent !== "") return subcomponent;
  const [version = ""] = versions;
  if (product.purl !== "" && ranges.length === 0 && versions.length < 2) return versionedPurl(product.purl, version);
  // Nothing but its name says which versions of the part are meant.
  if (product.cpe !== "" && versions.length + ranges.length === 0) return product.cpe;
  return fullNameOf(json);
}

/** Returns the name that products have which are a relationship of two others, if they have no better one. */
export function nameOfRelationship(category: string, part: string, whole: string): string {
  const words = category === "default_component_of" ? "as a component of" : category.replaceAll("_", " ");
  return `${part} ${words} ${whole}`;
}

/** Returns the full name of a product. */
export function fullNameOf({ name, category, part, whole }: ProductJson): string {
  if (name !== undefined) return name;
  return category !== undefined && part && whole
    ? nameOfRelationship(category, fullNameOf(part), fullNameOf(whole))
    : "";
}
