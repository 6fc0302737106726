// Package URLs, as far as advisories need them.
import { componentOfPurl, purlTypeOf } from "./libraries.ts";
import type { Artifact, Component } from "./record.ts";

/** A package as a package URL names it. */
export interface PackageUrl {
  readonly type: string;
  /** The distribution, the organization or the path before the name; empty when there is none. */
  readonly namespace: string;
  readonly name: string;
  /** Empty when it names every version. */
  readonly version: string;
  readonly qualifiers: ReadonlyMap<string, string>;
}

/** Types of packages whose namespace is a distribution, and no part of the name. */
const distributed: readonly string[] = ["apk", "deb", "rpm", "alpm", "oci"];

/** Parses a package URL; undefined when it is none. */
export function parsePurl(text: string): PackageUrl | undefined {
  const match = /^pkg:\/*([A-Za-z][A-Za-z0-9.+-]*)\/([^?#]+)(?:\?([^#]*))?(?:#.*)?$/.exec(text);
  if (!match) return undefined;
  const [, type = "", path = "", query = ""] = match;
  const at = path.lastIndexOf("@");
  const hasVersion = at > 0 && !path.slice(at).includes("/");
  const parts = (hasVersion ? path.slice(0, at) : path).split("/").filter((part) => part !== "");
  const name = decode(parts.pop() ?? "");
  if (name === "") return undefined;
  return {
    type: type.toLowerCase(),
    namespace: parts.map(decode).join("/"),
    name,
    version: hasVersion ? decode(path.slice(at + 1)) : "",
    qualifiers: new Map(new URLSearchParams(query.replaceAll("+", "%2B"))),
  };
}

/** The artifact that a package URL names. */
export function artifactOf({ type, namespace, name, qualifiers }: PackageUrl): Artifact {
  const architecture = qualifiers.get("arch") ?? "";
  if (type === "oci" || type === "docker") return { name, type: "image", architecture };
  const isDistributed = distributed.includes(type);
  const full = isDistributed || namespace === "" ? name : `${namespace}${type === "maven" ? ":" : "/"}${name}`;
  return { name: full, type: isDistributed ? type : "library", architecture };
}

/** What is vulnerable in an artifact that nothing else is said of: a library is its own component, others are undefined. */
export function ownComponentOf(purl: PackageUrl): Component | undefined {
  const { name, type } = artifactOf(purl);
  return type === "library" ? { name, type: componentOfPurl(purl.type) } : undefined;
}

/** The package URL of an artifact; packages of a distribution are below its name. */
export function purlOf(artifact: Artifact, componentType: string, distribution: string, version = ""): string {
  const { architecture = "" } = artifact;
  const at = version === "" ? "" : `@${encode(version)}`;
  const qualifiers = architecture === "" ? "" : `?arch=${encode(architecture)}`;
  return `pkg:${placeOf(artifact, componentType, distribution)}${at}${qualifiers}`;
}

/** Type, namespace and name. */
function placeOf({ name, type }: Artifact, componentType: string, distribution: string): string {
  if (type === "image") return `oci/${encode(name)}`;
  if (type === "library") return libraryPlace(name, componentType);
  return distributed.includes(type)
    ? `${type}/${encode(distribution)}/${encodePath(name)}`
    : `generic/${encodePath(name)}`;
}

function libraryPlace(name: string, componentType: string): string {
  const type = purlTypeOf(componentType);
  const path = encodePath(type === "maven" ? name.replace(":", "/") : name);
  return `${/^[a-z][a-z0-9.+-]*$/.test(type) ? type : "generic"}/${path}`;
}

function encodePath(text: string): string {
  return text.split("/").map(encode).join("/");
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
