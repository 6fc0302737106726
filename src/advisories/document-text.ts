// The text of a file as a document.
import { type Document, isAlias, isNode, parseAllDocuments, visit, type YAMLMap } from "yaml";
import { RepeatedMember } from "../base/json.ts";
import { BadDocument } from "./document.ts";
import { parseJson } from "./json-text.ts";

/** Limits of a text before it is a document. */
export const textLimits = {
  /** YAML takes a second and 200 MB of memory for each MiB: the files of whole distributions have half of one. */
  yamlBytes: 4 * 1024 * 1024,
  /** The aliases of a YAML file, which take time by their square. */
  yamlAliases: 1000,
  /** The documents of a YAML file. */
  yamlDocuments: 10_000,
  /** The maximum depth of nested objects and lists, including YAML aliases in one another. */
  depth: 100,
} as const;

/** The syntax to parse a text as. */
export type TextFormat = "json" | "yaml";

/**
 * Parses JSON or YAML. In YAML every scalar is a text: versions such as 1.10 must not become numbers. A text of several YAML
 * documents is a list of them. An object within it that has a member twice is a RepeatedMember. Throws BadDocument.
 */
export function parseText(text: string, format: TextFormat): unknown {
  const content = text.startsWith("\uFEFF") ? text.slice(1) : text;
  try {
    return format === "yaml" ? parseYaml(content) : parseJson(content, textLimits.depth);
  } catch (error) {
    if (error instanceof BadDocument) throw error;
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    // The YAML parser is recursive.
    if (reason.startsWith("Maximum call stack size exceeded")) throw new BadDocument(tooDeep);
    throw new BadDocument(`is not valid ${format.toUpperCase()}: ${reason.replace(/:$/, "").slice(0, 200)}`);
  }
}

const tooDeep = `is nested more than ${textLimits.depth} deep`;

function parseYaml(text: string): unknown {
  if (text.length > textLimits.yamlBytes)
    throw new BadDocument(`is larger than the limit of ${sizeText(textLimits.yamlBytes)} for YAML`);
  // YAML 1.2 §9.1.2: three dashes at the beginning of a line always begin a document.
  if ((text.match(/^---/gm)?.length ?? 0) > textLimits.yamlDocuments)
    throw new BadDocument(`has more than ${textLimits.yamlDocuments} YAML documents`);
  // The check of the library for unique keys takes time by the square of the keys. With the level `silent` it would leave out
  // errors.
  const parsed = parseAllDocuments(text, { schema: "failsafe", uniqueKeys: false, logLevel: "error" });
  const documents = "empty" in parsed ? [] : parsed;
  // An empty document is an empty text.
  const values = documents.map(newValueOf()).filter((value) => value !== "");
  return values.length > 1 ? values : (values[0] ?? null);
}

/** Makes the function that turns the documents of one text into values. */
function newValueOf(): (document: Document) => unknown {
  let aliases = 0;
  return (document) => {
    const [error] = document.errors;
    if (error) throw error;
    let repeated: string | undefined;
    visit(document, {
      Alias() {
        if (++aliases > textLimits.yamlAliases)
          throw new BadDocument(`has more than ${textLimits.yamlAliases} aliases`);
      },
      Map(_key, map, path) {
        const name = repeatedName(map);
        if (name === undefined) return;
        repeated ??= name;
        // Of the whole document nothing can be read.
        if (path.length === 1) throw new BadDocument(`has a member twice: ${repeated}`);
        map.toJSON = () =>
          new RepeatedMember(
            name,
            map.items.map(({ key, value }) => [String(key), plainValue(value, document)]),
          );
      },
    });
    // Limits the size of the expanded aliases, counted over the whole document.
    if (repeated !== undefined && aliases > 0) throw new BadDocument(`has a member twice: ${repeated}`);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    checkDepth(value);
    return value;
  };
}

/** Returns a member that an object has twice; undefined when there is none. */
function repeatedName({ items }: YAMLMap): string | undefined {
  const names = new Set<string>();
  for (const { key } of items) {
    const name = isAlias(key) ? `*${key.source}` : String(key);
    if (names.has(name)) return name.slice(0, 100);
    names.add(name);
  }
  return undefined;
}

function plainValue(node: unknown, document: Document): unknown {
  return isNode(node) ? node.toJS(document) : (node ?? "");
}

/** Throws for an alias inside the value that it refers to, which would be nested without end. */
function checkDepth(document: unknown): void {
  const open = [{ value: document, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (depth > textLimits.depth) throw new BadDocument(tooDeep);
    if (typeof value !== "object" || value === null) continue;
    for (const each of Object.values(value)) open.push({ value: each, depth: depth + 1 });
  }
}

/** Returns a limit as documents name it, such as "64 MiB". */
export function sizeText(bytes: number): string {
  return bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`;
}
