// Files next to advisories that do not hold advisories. Reports name them, and they are not errors.
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { nameCsaf, nameCsafText } from "./csaf/named.ts";
import { attestationIn } from "./openvex/attestation.ts";
import { isOpenvex } from "./openvex/read.ts";
import { isOsvIndex } from "./osv/read.ts";

/** Each kind of document, and how it is recognized. */
const kinds: readonly (readonly [name: string, isThis: (document: unknown) => boolean])[] = [
  ["an index of OSV records", isOsvIndex],
  ["the index of a VEX hub", (document) => isJsonObject(document) && isHubIndex(document)],
  ["the description of a VEX hub", (document) => isJsonObject(document) && isHubDescription(document)],
  ["the manifest of a package in a VEX hub", (document) => isJsonObject(document) && isHubManifest(document)],
  [
    "an in-toto attestation without an OpenVEX document",
    (document) => attestationIn(document) !== undefined && !isOpenvex(document),
  ],
];

/** A file that holds no advisories. */
export interface NamedFile {
  /** The kind of the file, such as "the index of a VEX hub". */
  readonly what: string;
  /** Whether it stands for advisories that are not read, as a pointer to another file does. */
  readonly standsForRecords: boolean;
}

/** Recognizes a document that holds no advisories, or only in formats that are not read; returns undefined for any other. */
export function nameDocument(document: unknown): NamedFile | undefined {
  const found = kinds.find(([, isThis]) => isThis(document))?.[0];
  if (found !== undefined) return { what: found, standsForRecords: false };
  const what = nameCsaf(document);
  // Other documents of CSAF providers have no member of this name.
  return what === undefined ? undefined : { what, standsForRecords: isJsonObject(document) && "document" in document };
}

/** Recognizes a text that is neither JSON nor YAML and holds no advisories; returns undefined for any other. */
export function nameText(text: string): NamedFile | undefined {
  // https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: the text that Git has in place of a large file that was not fetched.
  if (text.startsWith("version https://git-lfs.github.com/spec/v1"))
    return { what: "a Git LFS pointer to a file", standsForRecords: true };
  const what = nameCsafText(text);
  return what === undefined ? undefined : { what, standsForRecords: false };
}

// Hubs: https://github.com/aquasecurity/vex-repo-spec. Crawlers write the names of members in lower case, or with a capital.
function isHubIndex({ packages, updated_at: updated }: JsonObject): boolean {
  if (!areObjects(packages)) return false;
  if (packages.length === 0) return updated !== undefined;
  return packages.every((each) => hasTexts(each, ["id", "location"]) || hasTexts(each, ["ID", "Location"]));
}

function isHubDescription({ versions }: JsonObject): boolean {
  if (!areObjects(versions)) return false;
  return versions.length > 0 && versions.every((each) => "spec_version" in each && Array.isArray(each.locations));
}

function isHubManifest(document: JsonObject): boolean {
  const { id = document.ID, sources = document.Sources } = document;
  return (
    typeof id === "string" && areObjects(sources) && sources.every((each) => ["path", "Path"].some((n) => n in each))
  );
}

function areObjects(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject);
}

function hasTexts(object: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => typeof object[name] === "string");
}
