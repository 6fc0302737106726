// Package URLs with versions.
import { readPurl, writePurl } from "../purl.ts";

/** A package URL with a version. */
export function versionedPurl(purl: string, version: string): string {
  const parsed = version === "" ? undefined : readPurl(purl);
  return parsed ? writePurl({ ...parsed, version }) : purl;
}

/** A package URL in its canonical form, with all of its qualifiers; empty for what is none. */
export function canonicalPurl(text: string): string {
  const parsed = readPurl(text);
  return parsed ? writePurl(parsed) : "";
}
