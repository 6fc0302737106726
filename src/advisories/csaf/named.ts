// The files of a CSAF provider that are not advisories, and documents of other versions of CSAF.
import { isJsonObject, scalarText } from "../../base/json.ts";

/** Whether a document is of CSAF 2.0. */
export function isCsaf(document: unknown): boolean {
  return versionOf(document) === "2.0";
}

/** Returns the kind of a CSAF document that is not imported, as a noun phrase for the report; undefined for any other document. */
export function nameCsaf(document: unknown): string | undefined {
  const version = versionOf(document);
  // Until it is a standard, CSAF 2.1 changes what its product trees mean from one draft to the next.
  if (version !== undefined && version !== "2.0")
    return `a document of CSAF ${version.slice(0, 10)}, which is not read (only CSAF 2.0 is)`;
  if (!isJsonObject(document)) return undefined;
  // CSAF 2.0 §7.1.15, RFC 8322: feeds, services and categories of ROLIE.
  if (isJsonObject(document.feed) && Array.isArray(document.feed.entry)) return "a ROLIE feed";
  if (isJsonObject(document.service) && Array.isArray(document.service.workspace)) return "a ROLIE service document";
  if (isJsonObject(document.categories) && Array.isArray(document.categories.category))
    return "a ROLIE category document";
  // CSAF 2.0 §7.1.7 and §7.1.21.
  if (typeof document.metadata_version === "string" && isJsonObject(document.publisher))
    return "the metadata of a CSAF provider";
  if (typeof document.aggregator_version === "string") return "the metadata of a CSAF aggregator";
  return undefined;
}

// CSAF 2.0 §7.1.13: `"2020/example.json","2020-07-01T10:09:07Z"` on each line of changes.csv.
const change = /^"?[^",\n]+\.json"?,"?\d{4}-\d\d-\d\dT[^",\n]+"?$/;
// CSAF 2.0 §7.1.12: a path on each line of index.txt.
const path = /^[^\s"{}[\],:]+\.json$/;

/** Returns the kind of a CSAF provider's list (such as an index of files), as a noun phrase; undefined for any other text. */
export function nameCsafText(text: string): string | undefined {
  const lines = text
    .slice(0, 4096)
    .split(/\r?\n/)
    .slice(0, 10)
    .filter((line) => line !== "");
  // The last line may be cut off.
  const whole = lines.length > 1 ? lines.slice(0, -1) : lines;
  if (whole.length === 0) return undefined;
  if (whole.every((line) => change.test(line))) return "a list of changed CSAF documents (changes.csv)";
  return whole.every((line) => path.test(line)) ? "a list of CSAF documents (index.txt)" : undefined;
}

function versionOf(document: unknown): string | undefined {
  const head = isJsonObject(document) ? document.document : undefined;
  const version = isJsonObject(head) ? head.csaf_version : undefined;
  return version === undefined || version === null ? undefined : scalarText(version);
}
