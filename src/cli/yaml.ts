// Reads YAML, and JSON as a part of YAML. A mistake in the text is reported as wrong usage, with its line and column.
import { type Document, isCollection, LineCounter, parseAllDocuments, visit } from "yaml";
import { errorMessage } from "../base/system-error.ts";
import { wrongUsage } from "./failure.ts";

/** A document, and the line that it begins in. */
export interface YamlDocument {
  readonly value: unknown;
  readonly line: number;
}

/** Returns the documents of a text, without empty ones. `name` is that of the file. Fails with the first mistake. */
export function readYamlDocuments(text: string, name: string): YamlDocument[] {
  const lines = new LineCounter();
  const lineOf = (offset: number | undefined) => lines.linePos(offset ?? 0).line;
  const fail = (line: number, error: unknown) => wrongUsage(`${name}:${line}: ${firstLine(errorMessage(error))}`);
  const documents = documentsOf(text, lines, (error) => fail(1, error));
  return documents.flatMap((document) => {
    const line = lineOf(document.contents?.range?.[0]);
    // A warning is about a tag that is not known, such as !Ref: the value would be another one without it.
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw fail(problem.linePos?.[0].line ?? 1, problem);
    visit(document, {
      Pair(_key, { key }) {
        if (!isCollection(key)) return;
        throw fail(lineOf(key.range?.[0]), new Error("a key must be a text; put {{ and }} between quotes"));
      },
    });
    const value = contentOf(document, (error) => fail(line, error));
    return value === null ? [] : [{ value, line }];
  });
}

/** Returns the only document of a text; undefined if it is empty. */
export function readYaml(text: string, name: string): unknown {
  const [first, second] = readYamlDocuments(text, name);
  if (second) throw wrongUsage(`${name}:${second.line}: there must be one document only`);
  return first?.value;
}

type Fail = (error: unknown) => Error;

/** Nesting that is too deep ends the parser. */
function documentsOf(text: string, lineCounter: LineCounter, fail: Fail): readonly Document.Parsed[] {
  try {
    const documents = parseAllDocuments(text, { lineCounter, logLevel: "error" });
    return Array.isArray(documents) ? documents : [];
  } catch (error) {
    throw fail(error);
  }
}

/** Aliases that unfold to too much end the conversion. */
function contentOf(document: Document, fail: Fail): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw fail(error);
  }
}

function firstLine(message: string): string {
  return message.split("\n")[0]!.replace(/:$/, "");
}
