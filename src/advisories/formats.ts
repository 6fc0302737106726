// The formats of documents: how each is recognized and read.
import { isCsaf } from "./csaf/named.ts";
import { readCsaf } from "./csaf/read.ts";
import { BadDocument } from "./document.ts";
import { isOpenvex, readOpenvex } from "./openvex/read.ts";
import { isOsv, readOsv } from "./osv/read.ts";
import type { ReadDocument, Reader, ReadOptions } from "./reading.ts";
import { isSecdb } from "./secdb/database.ts";
import { readSecdb } from "./secdb/read.ts";
import { isYamlAdvisories, readYamlAdvisories } from "./yaml/read.ts";

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
export function readDocument(document: unknown, name: FormatName | "auto", options: ReadOptions): ReadDocument {
  const found = name === "auto" ? formatNames.find((each) => formats[each].isThis(document)) : name;
  if (!found) throw new BadDocument(`is in none of the formats ${formatNames.join(", ")}`);
  if (!formats[found].isThis(document)) throw new BadDocument(`is not ${found}`);
  return formats[found].read(document, options);
}
