// Package URLs: https://github.com/package-url/purl-spec. Rules of types are those of packageurl-js.
import { LRUCache } from "lru-cache";
import { PackageURL } from "packageurl-js";
import { isDecodable } from "../base/percent-encoding.ts";

/** A package URL in its canonical parts. */
export interface Purl {
  readonly type: string;
  /** Empty when there is none. */
  readonly namespace: string;
  readonly name: string;
  /** With the epoch, for packages that have one. Empty when the package URL names all versions. */
  readonly version: string;
  /** All of them, by key. */
  readonly qualifiers: ReadonlyMap<string, string>;
  /** Empty when there is none. */
  readonly subpath: string;
  /** The rule of the specification that it breaks although it can be read. Empty when it breaks none. */
  readonly problem: string;
}

/** Types whose versions have an epoch, which some write as a qualifier. */
const epochTypes: ReadonlySet<string> = new Set(["rpm", "deb", "alpm"]);

/** Characters that no name has. `new URL` deletes some of them, which would make two packages one. */
const control = /\p{Cc}/u;

/** A cache of parsed package URLs: an import parses each several times. */
const known = new LRUCache<string, { readonly purl: Purl | undefined }>({ max: 4096 });

/** Longer texts are read each time, which bounds the memory of the cache. */
const longestKnown = 512;

/**
 * Reads a package URL. What breaks only a rule of its type, or of percent-encoding, is read with that rule left out.
 * Undefined if it is not a package URL, or if readers of it would differ.
 */
export function readPurl(text: string): Purl | undefined {
  const cached = known.get(text);
  if (cached) return cached.purl;
  const purl = parsePurl(text);
  if (text.length <= longestKnown) known.set(text, { purl });
  return purl;
}

function parsePurl(text: string): Purl | undefined {
  const [, type, rest] = /^pkg:\/*([a-z][a-z0-9.+-]*)\/(.+)$/isu.exec(text.trim()) ?? [];
  if (type === undefined || rest === undefined || control.test(rest)) return undefined;
  const isEncoded = isDecodable(rest);
  try {
    const purl = readParts(type.toLowerCase(), isEncoded ? rest : rest.replaceAll("%", "%25"));
    return (
      purl && (isEncoded ? purl : { ...purl, problem: "a percent sign is not followed by the code of a character" })
    );
  } catch {
    return undefined;
  }
}

/** Writes a package URL in its canonical form. */
export function writePurl(purl: Omit<Purl, "problem">): string {
  return toLibrary(purl).toString();
}

/** Returns a canonical package URL without version, with one; an empty version adds none. */
export function versionedPurl(purl: string, version: string): string {
  const parts = version === "" ? undefined : readPurl(purl);
  return parts ? writePurl({ ...parts, version }) : purl;
}

function readParts(type: string, rest: string): Purl | undefined {
  // The library reads a query as an HTML form, where "+" is a blank.
  const [path = "", ...query] = rest.split("?");
  const text = [path, ...query.map((part) => part.replaceAll("+", "%2B"))].join("?");
  const [, namespace = "", name = "", version = "", entries, subpath = ""] = PackageURL.parseString(
    `pkg:${type}/${text}`,
  );
  const qualifiers = uniqueQualifiers(entries as Iterable<[string, string]> | undefined);
  if (!qualifiers) return undefined;
  // An encoded slash separates like any other: no package has one in its name.
  const segments = splitPath(type, `${namespace}/${name}`);
  const last = segments.pop() ?? "";
  const said = { type, namespace: segments.join("/"), name: last, version, qualifiers, subpath };
  const normal = fromLibrary(toLibrary(said));
  const hasControl = [normal.namespace, normal.name, normal.version, normal.subpath, ...normal.qualifiers.values()];
  if (hasControl.some((part) => control.test(part))) return undefined;
  return { ...normal, version: withEpoch(normal), problem: problemOf(normal) };
}

function splitPath(type: string, path: string): string[] {
  // Maven's own notation has a colon between group and artifact, which neither of them can have.
  const segments = path.split("/").filter((segment) => segment.trim() !== "");
  const [only = "", ...others] = segments;
  return type === "maven" && others.length === 0 && /^[^:]+:[^:]+$/.test(only) ? only.split(":") : segments;
}

/** Undefined when a key is there twice: readers would differ on which counts. */
function uniqueQualifiers(entries: Iterable<[string, string]> | undefined): Map<string, string> | undefined {
  const found = new Map<string, string>();
  for (const [key, value] of entries ?? []) {
    const name = key.toLowerCase();
    if (name === "" || (found.has(name) && found.get(name) !== value)) return undefined;
    if (value.trim() !== "") found.set(name, value);
  }
  return found;
}

/** Returns the version with the epoch that the qualifiers have. */
export function withEpoch({ type, version, qualifiers }: Pick<Purl, "type" | "version" | "qualifiers">): string {
  const epoch = qualifiers.get("epoch") ?? "0";
  const needsEpoch = epochTypes.has(type) && version !== "" && !version.includes(":") && /^[1-9]\d*$/.test(epoch);
  return needsEpoch ? `${epoch}:${version}` : version;
}

/** Normalised by the rules of the type, and not checked by them. */
function toLibrary({ type, namespace, name, version, qualifiers, subpath }: Omit<Purl, "problem">): PackageURL {
  const pairs = Object.fromEntries(qualifiers);
  const purl = new PackageURL("generic", namespace || null, name, version || null, pairs, subpath || null);
  purl.type = type;
  rulesOf(type)?.normalize(purl);
  // PEP 503: runs of these three are one dash; the library knows of the underscore alone.
  if (type === "pypi") purl.name = purl.name.replace(/[-_.]+/g, "-");
  return purl;
}

function fromLibrary({ type, namespace, name, version, qualifiers, subpath }: PackageURL): Purl {
  const given = { namespace: namespace ?? "", version: version ?? "", subpath: subpath ?? "" };
  return { type, name, ...given, qualifiers: new Map(Object.entries(qualifiers ?? {})), problem: "" };
}

/** Returns the rule of its type that it breaks. That a version is required holds for packages, and not for products. */
function problemOf(purl: Purl): string {
  try {
    const checked = toLibrary({ ...purl, version: purl.version || "0" });
    rulesOf(purl.type)?.validate(checked, true);
    return "";
  } catch (error) {
    // The rule of golang fails with an error of its own in place of its message.
    return error instanceof ReferenceError ? `${purl.type} requires another version` : (error as Error).message;
  }
}

function rulesOf(type: string) {
  const types = PackageURL.Type;
  return Object.hasOwn(types, type) ? types[type as keyof typeof types] : undefined;
}
