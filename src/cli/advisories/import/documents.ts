// The documents in the files of an import. What cannot be read is reported, and the rest is read.
import { BadDocument } from "../../../advisories/document.ts";
import { parseText, type TextFormat } from "../../../advisories/document-text.ts";
import { type FormatName, readDocument } from "../../../advisories/formats.ts";
import { type NamedFile, nameDocument, nameText } from "../../../advisories/named-files.ts";
import type { ReadDocument, ReadItem } from "../../../advisories/reading.ts";
import type { Report } from "./report.ts";
import { problemOf, type SourceFile } from "./sources.ts";
import type { SourceText } from "./texts.ts";

/** Options of the user that apply to all files. */
export interface DocumentOptions {
  readonly format: FormatName | "auto";
  /** The name of the source; if empty, the author of the document. */
  readonly author: string;
}

/** A document, and the file that it is in. */
export interface FoundDocument {
  /** The file, or the line of it. */
  readonly file: string;
  readonly document: ReadDocument;
  /** The estimated size of each of its records in the file, in bytes, to show progress. */
  readonly bytesOfRecord: number;
}

/** Returns the documents of a file. */
export async function* documentsOf(
  source: SourceFile,
  options: DocumentOptions,
  report: Report,
): AsyncGenerator<FoundDocument> {
  try {
    for await (const text of source.texts()) {
      const found = openDocument(source.name, text, options, report);
      if (found) yield found;
    }
  } catch (error) {
    report.failFile(source.name, problemOf(error, source.name));
  }
}

/** Returns the items of a document. A reader that fails has not read to the end: `onFailure` is called. */
export function* itemsOf(
  { file, document }: FoundDocument,
  report: Report,
  onFailure: () => void,
): Generator<ReadItem> {
  try {
    yield* document.items;
  } catch (error) {
    report.failFile(file, problemOf(error, file));
    onFailure();
  }
}

function openDocument(
  name: string,
  { place, text, bytes }: SourceText,
  options: DocumentOptions,
  report: Report,
): FoundDocument | undefined {
  const file = place === "" ? name : `${name}: ${place}`;
  try {
    const parsed = parseFile(name, text, options.format);
    const named = parsed.named ?? nameDocument(parsed.document);
    if (named) return void report.nameFile(file, named);
    const document = readDocument(parsed.document, options.format, { source: options.author });
    const records = Array.isArray(parsed.document) ? Math.max(1, parsed.document.length) : 1;
    return { file, document, bytesOfRecord: bytes / records };
  } catch (error) {
    const reason = problemOf(error, file);
    // A line of NDJSON is a record.
    if (place === "") report.failFile(file, reason);
    else report.leaveOut({ file: name, record: place }, { path: "", rule: reason });
    return undefined;
  }
}

/** Parses a file: returns its document, or `named` for a known kind of text that holds no advisories. */
function parseFile(name: string, text: string, format: string): { named?: NamedFile; document?: unknown } {
  const named = nameText(text);
  if (named) return { named };
  try {
    return { document: parseText(text, textFormatOf(name, format)) };
  } catch (error) {
    if (!(error instanceof BadDocument) || isKnown(name) || format !== "auto") throw error;
    // Neither the name nor the content tells the format.
    throw new BadDocument(`${error.message}; files of YAML are named .yaml or .yml`);
  }
}

const yamlName = /\.ya?ml(\.gz)?$/i;
const jsonName = /\.(json|ndjson|jsonl)(\.gz)?$/i;

function isKnown(name: string): boolean {
  return yamlName.test(name) || jsonName.test(name);
}

function textFormatOf(name: string, format: string): TextFormat {
  return yamlName.test(name) || (format === "yaml" && !jsonName.test(name)) ? "yaml" : "json";
}
