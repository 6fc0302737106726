// The identity of a product: its package URL without version, or else its CPE, or its name in an ecosystem.
import { create } from "@bufbuild/protobuf";
import { type Product, ProductSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { derivedPublicId } from "./public-id.ts";
import { type Purl, readPurl, writePurl } from "./purl.ts";

/** A product and the version of it that a package URL names. */
export interface VersionedProduct {
  readonly product: Product;
  /** Empty when it names all versions. The epoch is a part of it. */
  readonly version: string;
  /** The rule of package URLs that it breaks although it can be read. Empty when it breaks none. */
  readonly problem: string;
}

/** The artifact that an advisory is about. */
export interface ProductArtifact {
  readonly name: string;
  readonly type: string;
  readonly architecture: string;
}

/** The vulnerable component of an artifact. */
export interface ProductComponent {
  readonly name: string;
  readonly type: string;
}

/** Qualifiers that describe the location, build or look of a package, but do not identify the product. */
const descriptive: ReadonlySet<string> = new Set([
  "checksum",
  "checksums",
  "download_url",
  "vcs_url",
  "file_name",
  "vers",
  "epoch",
  // Added by generators of SBOMs: the source package with its version, and a number within the SBOM.
  "upstream",
  "package-id",
]);

/** Types of packages whose namespace is a distribution, and no part of the name. */
const distributed: ReadonlySet<string> = new Set(["apk", "deb", "rpm", "alpm"]);

/** Types whose packages are images. */
const images: ReadonlySet<string> = new Set(["oci", "docker"]);

/** Component types of libraries by the type of their package URL, where the two words differ. */
const componentTypes: ReadonlyMap<string, string> = new Map([
  ["cargo", "rust-crate"],
  ["composer", "packagist"],
  ["conan", "conancenter"],
  ["githubactions", "github actions"],
  ["golang", "go-module"],
  ["maven", "java"],
  ["pypi", "python"],
  ["swift", "swifturl"],
  ["vscode-extension", "vscode"],
]);

/** Namespaces that OSV writes for distributions, by the ones that scanners and vendors write: the table in the guide has their sources. */
export const otherNamespaces: ReadonlyMap<string, string> = new Map([
  ["alma", "almalinux"],
  ["azurelinux", "azure-linux"],
  ["cbl-mariner", "azure-linux"],
  ["mariner", "azure-linux"],
  ["opensuse-leap", "opensuse"],
  ["opensuse-tumbleweed", "opensuse"],
  ["opensuse.leap", "opensuse"],
  ["opensuse.tumbleweed", "opensuse"],
  ["opensuseleap", "opensuse"],
  ["red-hat", "redhat"],
  ["rhel", "redhat"],
  ["rocky", "rocky-linux"],
  ["rockylinux", "rocky-linux"],
  ["sled", "suse"],
  ["slem", "suse"],
  ["sles", "suse"],
  ["sles_sap", "suse"],
  ["suse linux enterprise micro", "suse"],
  ["suse linux enterprise server", "suse"],
]);

/** Parses a package URL; undefined if the text is not one. Accepts one that only breaks a rule of its type, and names the problem. */
export function parseProduct(text: string): VersionedProduct | undefined {
  const purl = readPurl(text);
  if (!purl) return undefined;
  return { product: create(ProductSchema, { purl: identityPurl(purl) }), version: purl.version, problem: purl.problem };
}

/** Returns the product of an advisory that was written with the API, as far as its artifact tells. */
export function productOfArtifact(artifact: ProductArtifact, component: ProductComponent | undefined): Product {
  const { name, type, architecture } = artifact;
  const purlType = purlTypeOf(type, component?.type ?? "");
  const qualifiers = new Map(architecture === "" ? [] : [["arch", architecture]]);
  const parts = { type: purlType, namespace: "", name, version: "", qualifiers, subpath: "" };
  return create(ProductSchema, { name, purl: purlType === "" ? "" : writeIfReadable(parts) });
}

function purlTypeOf(artifact: string, component: string): string {
  if (artifact === "image") return "oci";
  if (distributed.has(artifact)) return artifact;
  if (artifact !== "library") return "";
  const [renamed] = [...componentTypes].find(([, word]) => word === component) ?? [];
  return renamed ?? (/^[a-z][a-z0-9.+-]*$/.test(component) ? component : "");
}

/** Empty when it cannot be read again: such a name is in no package URL. */
function writeIfReadable(purl: Omit<Purl, "problem">): string {
  try {
    return parseProduct(writePurl(purl))?.product.purl ?? "";
  } catch {
    return "";
  }
}

/** Returns the text that two products have in common exactly when they are the same product. */
export function identityOf({ purl, cpe, ecosystem, name }: Product): string {
  if (purl !== "") return purl;
  if (cpe !== "") return cpe;
  return ecosystem === "" ? name : `${ecosystem}:${name}`;
}

/** Returns the artifact of an advisory about a product. It follows from the identity of the product alone. */
export function artifactOf(product: Product): ProductArtifact {
  const purl = readPurl(product.purl);
  if (!purl)
    return { name: nameWithoutPurl(product), type: product.ecosystem === "" ? "" : "library", architecture: "" };
  const architecture = purl.qualifiers.get("arch") ?? "";
  if (images.has(purl.type)) return { name: purl.name, type: "image", architecture };
  if (distributed.has(purl.type)) return { name: purl.name, type: purl.type, architecture };
  return { name: fullName(purl), type: "library", architecture };
}

/** Returns the vulnerable component of a product without further data: a library is its own component. Undefined for anything else. */
export function componentOf(product: Product): ProductComponent | undefined {
  const { name, type } = artifactOf(product);
  if (type !== "library") return undefined;
  const purl = readPurl(product.purl);
  if (!purl) return { name, type: product.ecosystem.toLowerCase() };
  return { name, type: componentTypes.get(purl.type) ?? purl.type };
}

/**
 * Returns the key by which queries find a product. All products of one package have the same key: qualifiers do not count. Names that
 * differ only in their case have the same too: some ecosystems do not tell them apart, and a query that finds too much hides nothing.
 */
export function packageKeyOf(product: Product): string {
  const purl = readPurl(product.purl);
  if (!purl) return identityOf(product).toLowerCase();
  const lower = purl.namespace.toLowerCase();
  const namespace = (distributed.has(purl.type) && otherNamespaces.get(lower)) || lower;
  return `pkg:${purl.type}/${namespace === "" ? "" : `${namespace}/`}${purl.name.toLowerCase()}`;
}

/** Returns the public id of the advisory on a vulnerability in a product, for sources that give it none. */
export function advisoryIdOf(product: Product, vulnerability: string): string {
  const { type, name } = artifactOf(product);
  const texts = [type, name, vulnerability];
  return derivedPublicId(isNamedByArtifact(product) ? texts : [...texts, identityOf(product)]);
}

/** Whether type and name of the artifact tell the product from all others of its ecosystem. */
function isNamedByArtifact(product: Product): boolean {
  const purl = readPurl(product.purl);
  if (!purl) return product.cpe === "";
  const hasNamespace = purl.namespace !== "" && (distributed.has(purl.type) || images.has(purl.type));
  return !hasNamespace && purl.qualifiers.size === 0 && purl.subpath === "";
}

function identityPurl(purl: Purl): string {
  const qualifiers = new Map([...purl.qualifiers].filter(([key]) => !descriptive.has(key)));
  return writePurl({ ...purl, version: "", qualifiers });
}

/** Returns the name with its namespace, as the ecosystem writes it. */
function fullName({ type, namespace, name }: Purl): string {
  const separator = type === "maven" ? ":" : type === "vscode-extension" ? "." : "/";
  return namespace === "" ? name : `${namespace}${separator}${name}`;
}

function nameWithoutPurl({ cpe, name }: Product): string {
  // CPE 2.3 has the product as its fifth part, the older form as its fourth.
  const part = cpe.startsWith("cpe:2.3:") ? 4 : 3;
  return cpe === "" ? name : (cpe.split(":")[part] ?? cpe);
}
