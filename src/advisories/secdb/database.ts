// Reads the head of a security database: its distribution, release and repository.
import { isJsonObject, type JsonObject, numberText } from "../../base/json.ts";
import { BadDocument, isNothing, Members, type Problems } from "../document.ts";
import { extraOf } from "../extra.ts";

/** A database without its packages. */
export interface Database {
  /** As package URLs have it, such as "alpine"; empty when the database does not tell. */
  readonly distribution: string;
  /** Such as "v3.20"; empty when the distribution has no releases. */
  readonly release: string;
  /** Such as "main"; empty when the database does not tell. */
  readonly repository: string;
  /** The members other than `packages`, as an `extra`. */
  readonly header: string;
  readonly packages: readonly unknown[];
}

/** Distributions by the domains of their package repositories, and where those are. */
const distributions: readonly { readonly name: string; readonly domain: string; readonly urlprefix: string }[] = [
  { name: "alpine", domain: "alpinelinux.org", urlprefix: "https://dl-cdn.alpinelinux.org/alpine" },
  { name: "wolfi", domain: "wolfi.dev", urlprefix: "https://packages.wolfi.dev" },
  { name: "chainguard", domain: "cgr.dev", urlprefix: "https://packages.cgr.dev" },
  { name: "minimos", domain: "mini.dev", urlprefix: "https://packages.mini.dev" },
];

const headerNames: readonly string[] = ["apkurl", "urlprefix", "reponame", "distroversion", "archs"];

/** The maximum length of a header: every record has a copy. */
const headerLength = 10_000;

/** Whether a document is a security database. */
export function isSecdb(document: unknown): boolean {
  if (!isJsonObject(document)) return false;
  if (isPackage(document)) return true;
  const { packages } = document;
  if (!Array.isArray(packages) && !isNothing(packages)) return false;
  if ("packages" in document && headerNames.some((name) => Object.hasOwn(document, name))) return true;
  return Array.isArray(packages) && packages.some((item) => isJsonObject(item) && isPackage(item.pkg));
}

/** Mirrors have a file for each package, which repeats the header. */
function isPackage(value: unknown): boolean {
  return isJsonObject(value) && typeof value.name === "string" && isJsonObject(value.secfixes);
}

/** Reads the header of a database. Throws BadDocument when the document has no packages. */
export function readDatabase(document: unknown, problems: Problems): Database {
  if (!isJsonObject(document)) throw new BadDocument("must be an object");
  const root = new Members(document, "", problems);
  const [apkurl, urlprefix, reponame] = [root.text("apkurl"), root.text("urlprefix"), root.text("reponame")];
  const distroversion = numberText(root.value("distroversion")) ?? root.text("distroversion");
  const archs = isNothing(root.value("archs")) ? [] : root.texts("archs");
  const packages = isPackage(document) ? [{ pkg: packageOf(root) }] : root.value("packages");
  if (!Array.isArray(packages) && !isNothing(packages)) throw new BadDocument("packages must be a list");
  const names = { apkurl, urlprefix, reponame, distroversion };
  const said = Object.entries(names).filter(([, value]) => value !== "");
  const header = extraOf({ ...Object.fromEntries(said), ...(archs.length > 0 && { archs }), ...root.rest() });
  if (header.length > headerLength)
    throw new BadDocument(`has more than ${headerLength} characters besides its packages`);
  return {
    distribution: distributionOf(names),
    release: distroversion,
    repository: reponame,
    header,
    packages: Array.isArray(packages) ? packages : [],
  };
}

function packageOf(root: Members): JsonObject {
  return { name: root.value("name"), secfixes: root.value("secfixes") };
}

/**
 * Returns the distribution: by the name of the repository, else by the address of the packages, whose host stands for a distribution that
 * is not known. Alpine's oldest databases have no address. Otherwise the name of the repository has to do.
 */
function distributionOf(header: { [name in "apkurl" | "urlprefix" | "reponame" | "distroversion"]: string }): string {
  const { apkurl, urlprefix, reponame, distroversion } = header;
  if (distributions.some(({ name }) => name === reponame)) return reponame;
  const url = URL.parse(urlprefix) ?? URL.parse(apkurl);
  if (url) {
    const host = url.hostname.toLowerCase();
    const known = distributions.find(({ domain }) => host === domain || host.endsWith(`.${domain}`));
    const isMirror = url.pathname.split("/").includes("alpine");
    return known?.name ?? (isMirror ? "alpine" : host);
  }
  const isAlpine = /^(v\d+\.\d+|edge)$/.test(distroversion) && /^(main|community|testing)$/.test(reponame);
  return isAlpine ? "alpine" : reponame.toLowerCase();
}

/** Returns a header for a database whose records have none. Reading it again finds the same distribution. */
export function defaultHeader(distribution: string, release: string, repository: string): JsonObject {
  const known = distributions.find(({ name }) => name === distribution);
  const version = release === "" ? "" : "/{{distroversion}}";
  return {
    apkurl: `{{urlprefix}}${version}/{{reponame}}/{{arch}}/{{pkg.name}}-{{pkg.ver}}.apk`,
    reponame: repository || (distribution === "alpine" ? "main" : "os"),
    urlprefix: known?.urlprefix ?? `https://${distribution}`,
    ...(release === "" ? {} : { distroversion: release }),
  };
}
