// The package that a query asks for: the keys by which its advisories are found, and which of their statements are about it.
import { create } from "@bufbuild/protobuf";
import {
  type Product,
  ProductSchema,
  type ProductStatement,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import {
  knownEcosystem,
  namedProduct,
  namespacesOf,
  type OsvPackage,
  packageOf,
  splitEcosystem,
} from "../ecosystems.ts";
import { mayBeOfModule, streamOf } from "../modules.ts";
import { packageKeyOf, parseProduct } from "../product.ts";
import { type Purl, readPurl, withEpoch, writePurl } from "../purl.ts";
import { mayBeSameRelease } from "./releases.ts";
import { enclosingPathsOf, isWithin, mayBeOneModule } from "./subpaths.ts";

/** A package as a query names it: by package URL, or by ecosystem and name. */
export interface PackageName {
  readonly purl: string;
  readonly ecosystem: string;
  readonly name: string;
  readonly version: string;
}

/** A package that is asked for. */
export interface QueriedPackage {
  /** The keys of the packages whose advisories may be about it, each with the version of that package. */
  readonly versions: ReadonlyMap<string, string>;
  /** The package URL; undefined when the query has none, and none follows from it. */
  readonly purl: Purl | undefined;
  readonly qualifiers: ReadonlyMap<string, string>;
  /** The release of the distribution; empty when the query names none. */
  readonly release: string;
  /** The ecosystem of OSV; empty when it has none for the package. */
  readonly ecosystem: string;
  /** The commit that is asked for in place of a package. Empty for packages. */
  readonly commit: string;
}

/** The defaults of the query's optional fields. */
const anything: Omit<QueriedPackage, "versions"> = {
  purl: undefined,
  qualifiers: new Map(),
  release: "",
  ecosystem: "",
  commit: "",
};

/** The problem with a query, and the field that has it. */
export interface QueryProblem {
  readonly field: "purl" | "ecosystem" | "name" | "version";
  readonly description: string;
}

/** Types of packages of distributions, whose advisories may be about the source that several packages are built from. */
const distributed: ReadonlySet<string> = new Set(["apk", "deb", "rpm"]);

/** Values of `arch` that every architecture is built from, or that fit every architecture. */
const everyArchitecture: ReadonlySet<string> = new Set(["source", "src", "all", "any", "noarch"]);

/**
 * Returns the keys by which queries find a product: the one of its package URL, and the one of its name in its ecosystem, which sources
 * do not always write alike.
 */
export function packageKeysOf(product: Product): string[] {
  const { ecosystem, name } = product;
  const named = ecosystem === "" || name === "" ? [] : [packageKeyOf(namedProduct(ecosystem, name, "").product)];
  return [...new Set([packageKeyOf(product), ...named])];
}

/** The most commits of an advisory by which it is found. */
const mostCommits = 1000;

/** Returns the keys by which queries find an advisory: those of its products, and the commits that its ranges name. */
export function lookUpKeysOf(statements: readonly ProductStatement[]): string[] {
  const products = statements.flatMap(({ product }) => (product ? packageKeysOf(product) : []));
  const commits = statements.flatMap(({ ranges }) =>
    ranges
      .filter(({ type }) => type === "GIT")
      .flatMap(({ events }) => events.map(({ version }) => commitKey(version))),
  );
  // Sorted, because the order of the statements does not matter.
  return [...new Set(products), ...[...new Set(commits)].sort().slice(0, mostCommits)].sort();
}

const commitPrefix = "commit:";

/** Returns the key by which a commit is found. */
export function commitKey(commit: string): string {
  return commitPrefix + commit.toLowerCase();
}

/** Whether a key is that of a commit. */
export function isCommitKey(key: string): boolean {
  return key.startsWith(commitPrefix);
}

/** Reads a query. */
export function readPackage(named: PackageName): QueriedPackage | QueryProblem {
  const { purl: text, name, version } = named;
  if (text === "") return readNamed(named);
  if (named.ecosystem !== "") return { field: "ecosystem", description: "must be empty together with a package URL" };
  if (name !== "") return { field: "name", description: "must be empty together with a package URL" };
  const purl = readPurl(text);
  if (!purl) return { field: "purl", description: "must be a package URL" };
  if (version !== "" && purl.version !== "") {
    return { field: "version", description: "must be empty together with a package URL that has a version" };
  }
  const asked = version === "" ? purl : { ...purl, version: withEpoch({ ...purl, version }) };
  const { qualifiers } = asked;
  const called = packageOf(parseProduct(text)!.product, "");
  const release = releaseOf(asked);
  const versions = new Map([...(called ? [[calledKey(called), asked.version] as const] : []), ...versionsOf(asked)]);
  return { ...anything, versions, purl: asked, qualifiers, release, ecosystem: called?.ecosystem ?? "" };
}

function readNamed({ ecosystem: text, name, version }: PackageName): QueriedPackage | QueryProblem {
  if (text === "") return { field: "ecosystem", description: "must be set, or else a package URL" };
  if (name === "") return { field: "name", description: "must be set together with the ecosystem" };
  const { product, release } = namedProduct(text, name, "");
  const { ecosystem } = product;
  const purl = readPurl(product.purl);
  const versions = new Map([[calledKey({ ecosystem, name }), version]]);
  const named = { ...anything, release, ecosystem };
  if (!purl) return { ...named, versions };
  const asked = { ...purl, version };
  return {
    ...named,
    versions: new Map([...versions, ...versionsOf(asked)]),
    purl: asked,
    qualifiers: purl.qualifiers,
  };
}

/** Returns the key of a package that a record names without a package URL, although its ecosystem has package URLs. */
function calledKey({ ecosystem, name }: OsvPackage): string {
  return packageKeyOf(create(ProductSchema, { ecosystem, name }));
}

/** Asks for a commit, wherever it is named. */
export function commitPackage(commit: string): QueriedPackage {
  return { ...anything, versions: new Map([[commitKey(commit), ""]]), commit };
}

/** Whether a statement is about the package. Properties that only one of the two names do not count as a difference. */
export function isAbout({ product, release }: ProductStatement, asked: QueriedPackage): boolean {
  if (!product || !packageKeysOf(product).some((key) => asked.versions.has(key))) return false;
  const purl = readPurl(product.purl);
  if (purl && asked.purl && !mayBeOneModule(purl, asked.purl)) return false;
  const qualifiers = purl?.qualifiers ?? new Map<string, string>();
  const releases = [release, purl ? releaseOf(purl) : ""].filter((text) => text !== "");
  if (asked.release !== "" && !releases.every((text) => mayBeSameRelease(text, asked.release))) return false;
  if (!mayBeOfModule(release, asked.qualifiers.get("rpmmod") ?? "")) return false;
  return [...qualifiers].every(([key, value]) => key === "distro" || agrees(key, value, asked.qualifiers.get(key)));
}

/** Returns the release that a package URL names: by its qualifier, or by a namespace of one release, such as "opensuse-tumbleweed". */
function releaseOf({ type, namespace, qualifiers }: Purl): string {
  const implied = distributed.has(type) ? splitEcosystem(knownEcosystem(namespace)).release : "";
  return qualifiers.get("distro") || implied;
}

/**
 * Whether a package URL tells by itself who built the package: then no other package has its versions. A library of a public
 * registry may be in many products.
 */
export function namesVendor({ purl }: Product): boolean {
  const parsed = readPurl(purl);
  if (!parsed || parsed.qualifiers.has("repository_url")) return true;
  return distributed.has(parsed.type) && parsed.namespace !== "";
}

/** Whether a product is the queried package or contains it. A statement on a part does not apply to the rest. */
export function isAboutAllOf({ purl }: Product, asked: QueriedPackage): boolean {
  const parsed = readPurl(purl);
  return !parsed || parsed.subpath === "" || (asked.purl !== undefined && isWithin(asked.purl, parsed));
}

/** Whether a statement is on a package of a distribution, for one of its releases. */
export function isOfDistribution({ product, release }: ProductStatement): boolean {
  return release !== "" && distributed.has(readPurl(product?.purl ?? "")?.type ?? "");
}

/** Returns the version of the package that a product is, as the query names it. */
export function versionFor(product: Product, asked: QueriedPackage): string {
  const key = packageKeysOf(product).find((each) => asked.versions.has(each));
  return asked.versions.get(key ?? "") ?? "";
}

/**
 * Returns the keys under which advisories may name a package, each with the version to compare. They are the keys of
 * the package, of its source package and of the paths that contain it, with and without a distribution: advisories that were written with
 * the API name no distribution.
 */
function versionsOf(purl: Purl): Map<string, string> {
  const { type, namespace } = purl;
  const source = distributed.has(type) ? sourceOf(purl) : undefined;
  // The package itself comes last: its version counts where the source has the same name.
  const all = [...(source ? [source] : []), purl];
  const hasDistribution = distributed.has(type) && namespace !== "";
  const others = [
    ...(hasDistribution ? all.map((each) => ({ ...each, namespace: "" })) : []),
    ...(hasDistribution || !distributed.has(type)
      ? []
      : distributionsOf(purl).flatMap((each) => inDistribution(all, each))),
    ...enclosingPathsOf(purl),
  ];
  return new Map([...others, ...all].map((each) => [keyOf(each), each.version]));
}

/** Returns the distributions that a package without one may be of: the one that `distro` names, or else all of its type. */
function distributionsOf(purl: Purl): string[] {
  const [, named = ""] = /^([a-z][a-z_.-]*?)(?:-[0-9].*)?$/i.exec(purl.qualifiers.get("distro") ?? "") ?? [];
  const all = namespacesOf(purl.type);
  // A release by its name, such as "jammy", names no distribution.
  const isKnown = all.some((each) => keyOf({ ...purl, namespace: each }) === keyOf({ ...purl, namespace: named }));
  return isKnown ? [named] : all;
}

function inDistribution(all: readonly Purl[], namespace: string): Purl[] {
  return all.map((each) => ({ ...each, namespace }));
}

function keyOf(purl: Purl): string {
  const text = writePurl({ ...purl, version: "", qualifiers: new Map(), subpath: "" });
  return packageKeyOf({ purl: text } as Product);
}

/** Returns the source of a package of a distribution, which generators of SBOMs add as `upstream=NAME` or `upstream=NAME@VERSION`. */
function sourceOf(purl: Purl): Purl | undefined {
  const upstream = purl.qualifiers.get("upstream") ?? "";
  const [, rpm] = /^(.+)-[^-]+-[^-]+[.]src[.]rpm$/.exec(upstream) ?? [];
  const [name = "", version = ""] = rpm === undefined ? upstream.split("@") : [rpm];
  return name === "" ? undefined : { ...purl, name, version: version === "" ? purl.version : version };
}

function agrees(key: string, said: string, asked: string | undefined): boolean {
  if (asked === undefined || asked === said) return true;
  if (key === "rpmmod") return streamOf(said) === streamOf(asked);
  if (key === "arch") return everyArchitecture.has(said) || everyArchitecture.has(asked);
  return key === "repository_url" && addressOf(said) === addressOf(asked);
}

/** Returns an address without its scheme and the slash at its end, which some leave out. */
export function addressOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[a-z]+:[/][/]/, "")
    .replace(/[/]$/, "");
}
