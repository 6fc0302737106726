// The formats that advisories are imported from: how each is recognized and read.
import { BadDocument } from "./document.ts";
import { isCsaf, readCsaf } from "./formats/csaf.ts";
import { isOpenvex, readOpenvex } from "./formats/openvex.ts";
import { isOsv, isOsvIndex, readOsv } from "./formats/osv.ts";
import { isSecdb, readSecdb } from "./formats/secdb.ts";
import { isYamlAdvisories, readYamlAdvisories } from "./formats/yaml-advisories.ts";
import type { Part, Reader, ReadOptions } from "./reader.ts";

interface Format {
  readonly isThis: (document: unknown) => boolean;
  readonly read: Reader;
}

const formats = {
  osv: { isThis: isOsv, read: readOsv },
  secdb: { isThis: isSecdb, read: readSecdb },
  openvex: { isThis: isOpenvex, read: readOpenvex },
  csaf: { isThis: isCsaf, read: readCsaf },
  yaml: { isThis: isYamlAdvisories, read: readYamlAdvisories },
} as const satisfies Readonly<Record<string, Format>>;

/** The name of a format. */
export type FormatName = keyof typeof formats;

/** The names of all formats. */
export const formatNames = Object.keys(formats) as FormatName[];

/** Reads a document in one format, or in the one that it looks like. Throws BadDocument when it is of no such format. */
export function readDocument(document: unknown, name: FormatName | "auto", options: ReadOptions): Iterable<Part> {
  if (isOsvIndex(document)) return [];
  const found = formatNames
    .filter((each) => name === "auto" || each === name)
    .find((each) => formats[each].isThis(document));
  if (!found)
    throw new BadDocument(
      name === "auto" ? `it is in none of the formats ${formatNames.join(", ")}` : `it is not ${name}`,
    );
  return formats[found].read(document, options);
}
