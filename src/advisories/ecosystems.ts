// Ecosystems of OSV (https://ossf.github.io/osv-schema/#defined-ecosystems, 1.9), and the package URLs of their packages.
import { create } from "@bufbuild/protobuf";
import { type Product, ProductSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { otherNamespaces, packageKeyOf, parseProduct } from "./product.ts";
import { type Purl, readPurl } from "./purl.ts";

/** The ecosystems that OSV has registered. */
export const ecosystems: readonly string[] = [
  "AlmaLinux",
  "Alpaquita",
  "Alpine",
  "Android",
  "Azure Linux",
  "BellSoft Hardened Containers",
  "Bioconductor",
  "Bitnami",
  "Chainguard",
  "CleanStart",
  "ConanCenter",
  "CRAN",
  "crates.io",
  "Debian",
  "Docker Hardened Images",
  "Echo",
  "FreeBSD",
  "GHC",
  "GitHub Actions",
  "Go",
  "Hackage",
  "Hex",
  "Homebrew",
  "Julia",
  "Kubernetes",
  "Linux",
  "Mageia",
  "Maven",
  "MinimOS",
  "npm",
  "NuGet",
  "opam",
  "openEuler",
  "openSUSE",
  "OSS-Fuzz",
  "Packagist",
  "Photon OS",
  "Pub",
  "PyPI",
  "Red Hat",
  "Rocky Linux",
  "Root",
  "RubyGems",
  "SUSE",
  "SwiftURL",
  "TuxCare",
  "Ubuntu",
  "vcpkg",
  "VSCode",
  "Wolfi",
  "WordPress",
];

/** Returns the problem with the ecosystem of a package, as a sentence; empty if OSV defines the ecosystem. */
export function ecosystemProblem(ecosystem: string): string {
  const [name = "", ...version] = ecosystem.split(":");
  if (!ecosystems.includes(name)) {
    const meant = ecosystems.find((known) => known.toLowerCase() === name.toLowerCase());
    return `OSV has no ecosystem ${JSON.stringify(name)}${meant === undefined ? "" : `, but ${JSON.stringify(meant)}`}`;
  }
  return version.length > 0 && version.join(":") === "" ? `behind the colon of ${ecosystem} there is no version` : "";
}

/** The hint to an ecosystem that is wrong. */
export const ecosystemHint = `Its ecosystems are ${ecosystems.join(", ")}; a colon and a version may follow, as in Alpine:v3.22.`;

/**
 * The type and the namespace of package URLs by ecosystem (https://github.com/package-url/purl-spec, and for distributions as
 * osv.dev writes them). Packages of other ecosystems have no package URL.
 */
const places: Readonly<Record<string, string>> = {
  AlmaLinux: "rpm/almalinux",
  Alpaquita: "apk/alpaquita",
  Alpine: "apk/alpine",
  "Azure Linux": "rpm/azure-linux",
  "BellSoft Hardened Containers": "apk/bellsoft-hardened-containers",
  Bitnami: "bitnami",
  Chainguard: "apk/chainguard",
  ConanCenter: "conan",
  CRAN: "cran",
  "crates.io": "cargo",
  Debian: "deb/debian",
  "Docker Hardened Images": "dhi",
  Echo: "deb/echo",
  "GitHub Actions": "githubactions",
  Go: "golang",
  Hackage: "hackage",
  Hex: "hex",
  Julia: "julia",
  Mageia: "rpm/mageia",
  Maven: "maven",
  MinimOS: "apk/minimos",
  npm: "npm",
  NuGet: "nuget",
  opam: "opam",
  openEuler: "rpm/openeuler",
  openSUSE: "rpm/opensuse",
  Packagist: "composer",
  Pub: "pub",
  PyPI: "pypi",
  "Red Hat": "rpm/redhat",
  "Rocky Linux": "rpm/rocky-linux",
  RubyGems: "gem",
  SUSE: "rpm/suse",
  SwiftURL: "swift",
  Ubuntu: "deb/ubuntu",
  VSCode: "vscode-extension",
  Wolfi: "apk/wolfi",
};

/** The types of package URLs whose namespace is a distribution. */
const distributed: readonly string[] = ["apk", "deb", "rpm"];

/**
 * Ecosystems by their other names: a namespace that scanners write, the type of their package URLs, or the word of GitHub's advisories.
 */
const otherNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...otherNamespaces].map(([other, namespace]) => [lettersOf(other), distributionAt(namespace)]),
  ),
  ...Object.fromEntries(Object.entries(places).map(([name, place]) => [lettersOf(place), name])),
  opensusetumbleweed: "openSUSE:Tumbleweed",
  actions: "GitHub Actions",
  erlang: "Hex",
  pip: "PyPI",
  rust: "crates.io",
  ...Object.fromEntries(ecosystems.map((name) => [lettersOf(name), name])),
};

/** Returns the namespaces of the distributions whose packages have package URLs of a type. */
export function namespacesOf(type: string): string[] {
  const ofType = Object.values(places).filter((place) => place.startsWith(`${type}/`));
  return ofType.map((place) => place.slice(type.length + 1));
}

/** Returns an ecosystem as OSV writes it: "PyPI" for "pypi", "Debian:12" for "debian:12". One that OSV does not have stays as it is. */
export function knownEcosystem(text: string): string {
  const [base = "", ...release] = text.split(":");
  const letters = lettersOf(base);
  return [Object.hasOwn(otherNames, letters) ? otherNames[letters] : base, ...release].join(":");
}

/** Returns the type of the package URLs of an ecosystem, in any spelling; empty if they have none. */
export function purlTypeIn(ecosystem: string): string {
  const [base = ""] = knownEcosystem(ecosystem).split(":");
  const [type = ""] = Object.hasOwn(places, base) ? places[base]!.split("/") : [];
  return type;
}

function distributionAt(namespace: string): string {
  return Object.keys(places).find((ecosystem) => places[ecosystem]!.endsWith(`/${namespace}`)) ?? namespace;
}

/** Names that differ in case, blanks and punctuation alone are one. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** An ecosystem as OSV writes it, such as "Debian:12", apart from the release that it may have. */
export interface Ecosystem {
  readonly ecosystem: string;
  /** Empty when it names all. */
  readonly release: string;
}

/** Splits "Debian:12". The address of a registry, as in "Maven:https://maven.example", is not a release and stays. */
export function splitEcosystem(text: string): Ecosystem {
  const at = text.indexOf(":");
  if (at <= 0 || /^https?:/.test(text.slice(at + 1))) return { ecosystem: text, release: "" };
  return { ecosystem: text.slice(0, at), release: text.slice(at + 1) };
}

/** Returns the product that a name of an ecosystem means. The package URL is empty when the ecosystem has none. */
export function productOf(ecosystem: string, name: string): Product {
  return create(ProductSchema, { purl: parseProduct(purlOf(ecosystem, name))?.product.purl ?? "", ecosystem, name });
}

/** Returns the product that OSV calls by an ecosystem, in any spelling, and a name, and its release. `purl` is empty where it has none. */
export function namedProduct(written: string, name: string, purl: string): { product: Product; release: string } {
  const { ecosystem, release } = splitEcosystem(knownEcosystem(written));
  const isNamed = written !== "" && name !== "";
  const product = isNamed ? productOf(ecosystem, name) : create(ProductSchema, { ecosystem, name });
  if (purl !== "") product.purl = purl;
  return { product, release };
}

function purlOf(ecosystem: string, name: string): string {
  const [base = "", ...registry] = ecosystem.split(":");
  const segments = segmentsOf(base, name);
  if (!Object.hasOwn(places, base) || segments.includes("")) return "";
  const qualifiers = registry.length === 0 ? "" : `?repository_url=${encodeURIComponent(registry.join(":"))}`;
  return `pkg:${places[base]}/${segments.map(encodeURIComponent).join("/")}${qualifiers}`;
}

/** Returns the namespace and the name in a package URL. */
function segmentsOf(ecosystem: string, name: string): string[] {
  if (ecosystem === "SwiftURL") return name.replace(/^https?:[/][/]|[.]git$/g, "").split("/");
  const separator = separatorOf(ecosystem);
  const [first = "", ...others] = name.split(separator);
  // Names of extensions may have further dots, those of Maven have one colon.
  if (ecosystem === "Maven" && others.length !== 1) return [""];
  return ecosystem === "VSCode" ? [first, others.join(separator)] : [first, ...others];
}

/** The ecosystem and the name of a package in OSV. */
export interface OsvPackage {
  readonly ecosystem: string;
  readonly name: string;
}

/**
 * Returns the ecosystem and the name of a product; undefined when OSV has none. `unsaid` is the ecosystem of packages whose package URL
 * names no distribution, or the one of that ecosystem.
 */
export function packageOf(product: Product, unsaid: string): OsvPackage | undefined {
  if (product.ecosystem !== "" && product.name !== "") return { ecosystem: product.ecosystem, name: product.name };
  const purl = readPurl(product.purl);
  if (!purl) return undefined;
  if (!distributed.includes(purl.type)) {
    const ecosystem = ecosystemAt(purl.type);
    const { namespace, name } = purl;
    if (ecosystem === "") return undefined;
    return { ecosystem, name: namespace === "" ? name : namespace + separatorOf(ecosystem) + name };
  }
  // The key has the namespace that OSV writes. Scanners may write another.
  const [, namespace = ""] = packageKeyOf(product).split("/");
  const ecosystem = ecosystemAt(`${purl.type}/${namespace}`) || (isUnsaid(purl, unsaid) ? unsaid : "");
  return ecosystem === "" ? undefined : { ecosystem, name: purl.name };
}

function ecosystemAt(place: string): string {
  return Object.keys(places).find((ecosystem) => places[ecosystem] === place) ?? "";
}

/** Whether a package of a distribution can be one of the ecosystem: it has no namespace, or that of the ecosystem. */
function isUnsaid({ type, namespace }: Purl, ecosystem: string): boolean {
  const [base = ""] = ecosystem.split(":");
  const place = Object.hasOwn(places, base) ? places[base]! : `${type}/${base.toLowerCase()}`;
  return namespace === "" ? place.startsWith(`${type}/`) : place === `${type}/${namespace}`;
}

/** Returns the separator between namespace and name in OSV. */
function separatorOf(ecosystem: string): string {
  if (ecosystem === "Maven") return ":";
  return ecosystem === "VSCode" ? "." : "/";
}
