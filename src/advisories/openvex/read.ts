// Reads OpenVEX 0.2.0 and 0.0.1 (https://github.com/openvex/spec). The statements of a document about one vulnerability become a record.
import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { BadDocument, Problems } from "../document.ts";
import { extraOf } from "../extra.ts";
import type { CompleteDocument, Reader, ReadItem, ReadOptions } from "../reading.ts";
import type { ReadTime } from "../times.ts";
import { unwrap } from "./attestation.ts";
import { attempt, dropUnknown, membersOf } from "./lenient.ts";
import { isSafe, type ReadStatement, readStatement, readVersion, vulnerabilityOf } from "./statements.ts";

/** Whether a document is of this format, or an attestation that holds one. */
export function isOpenvex(wrapped: unknown): boolean {
  const document = unwrap(wrapped);
  if (!isJsonObject(document)) return false;
  return contextsOf(document).length > 0 || (Array.isArray(document.statements) && "@id" in document);
}

/** Reads a document. The vulnerabilities are in the order in which it names them. */
export const readOpenvex: Reader = (wrapped, options) => {
  const document = unwrap(wrapped);
  if (!isJsonObject(document)) throw new BadDocument("must be an object");
  for (const found of contextsOf(document)) checkContext(found);
  if (!Array.isArray(document.statements)) throw new BadDocument("must have a list of statements");
  const head = readHead(document, document.statements, options);
  return { items: itemsOf(head, document.statements), ...completes(head) };
};

/** JSON-LD has one context or a list of them. */
function contextsOf({ "@context": value }: JsonObject): string[] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return texts.filter((text): text is string => typeof text === "string" && text.startsWith("https://openvex.dev/ns"));
}

// A context without a version is that of 0.0.1.
function checkContext(context: string): void {
  if (!/^https:\/\/openvex\.dev\/ns(\/|\/v0\.[0-2](\.\d+)?\/?)?$/.test(context))
    throw new BadDocument(`has the context ${context.slice(0, 80)}, but only OpenVEX up to 0.2.0 can be read`);
}

/** The head of a document: its identity, times and revision. */
interface Head {
  readonly source: string;
  readonly document: string;
  readonly published: ReadTime | undefined;
  readonly modified: ReadTime | undefined;
  readonly revision: number;
  /** The members that only OpenVEX has. */
  readonly more: JsonObject;
  readonly problems: Problems;
}

function readHead(document: JsonObject, statements: readonly unknown[], { source }: ReadOptions): Head {
  const problems = new Problems();
  const members = membersOf(document, "", problems);
  const [id, author] = [members.text("@id"), members.text("author")];
  if (source === "" && author === "") members.drop("author", "is missing");
  const published = members.time("timestamp");
  const modified = members.time("last_updated") ?? published;
  const revision = readVersion(members) ?? 0;
  const texts = ["role", "tooling", "supplier"].map((name) => [name, members.text(name) || undefined]);
  // The writers of OpenVEX 0.0.1 also had the type of the document.
  for (const name of ["@context", "statements", "format"]) members.value(name);
  dropUnknown(members);
  return {
    source: source || author || "openvex",
    document: id || derivedId(author, statements),
    published,
    modified,
    revision,
    problems,
    more: { ...Object.fromEntries(texts), timestamp: published?.raw || undefined },
  };
}

/** Returns the id of a document without one: derived from its author, and from the vulnerabilities and products of its statements. */
function derivedId(author: string, statements: readonly unknown[]): string {
  const pairs = statements.flatMap((statement) => {
    const products = isJsonObject(statement) && Array.isArray(statement.products) ? statement.products : [];
    return products.map((product) => JSON.stringify([vulnerabilityOf(statement), ...namesOf(product)]));
  });
  const digest = createHash("sha256").update(JSON.stringify([author, [...new Set(pairs)].sort()]));
  return `sha256:${digest.digest("hex")}`;
}

function namesOf(product: unknown): string[] {
  if (!isJsonObject(product)) return typeof product === "string" ? [product] : [];
  const { "@id": id, identifiers, hashes } = product;
  const others = [identifiers, hashes].flatMap((each) => (isJsonObject(each) ? Object.entries(each).flat() : []));
  return [id, ...others].filter((text): text is string => typeof text === "string");
}

function completes({ source, document, modified, revision }: Head): { readonly completes?: CompleteDocument } {
  return modified ? { completes: { source, document, modifyTime: modified.milliseconds, revision } } : {};
}

function* itemsOf(head: Head, statements: readonly unknown[]): Generator<ReadItem> {
  const places = new Map<string, number[]>();
  for (const [i, statement] of statements.entries()) {
    // A statement that names no vulnerability stands alone.
    const name = vulnerabilityOf(statement) || `statement ${i + 1}`;
    const known = places.get(name);
    if (known) known.push(i);
    else places.set(name, [i]);
  }
  let problems = head.problems;
  for (const [name, indices] of places) {
    yield readRecord(head, name, indices, statements, problems);
    problems = new Problems();
  }
}

/**
 * Reads the statements on one vulnerability. An unreadable statement is left out if it declares its products safe. Otherwise the whole
 * record is left out, because it would hide affected products.
 */
function readRecord(
  head: Head,
  name: string,
  indices: readonly number[],
  statements: readonly unknown[],
  problems: Problems,
): ReadItem {
  const read: ReadStatement[] = [];
  for (const i of indices) {
    const found = attempt(problems, () => readStatement(statements[i], `statements[${i}]`, problems));
    if (found) read.push(found);
    else if (!isSafe(statements[i])) return { name, record: undefined, problems: problems.list() };
  }
  const record = read.length === 0 ? undefined : recordOf(head, name, read);
  return { name, record, problems: problems.list() };
}

function recordOf(
  { published, modified, ...head }: Head,
  name: string,
  read: readonly ReadStatement[],
): AdvisoryRecord {
  const said = read.map(({ vulnerability }) => vulnerability);
  const id = said.find((each) => each.id !== "")?.id ?? "";
  const details = said.find((each) => each.description !== "")?.description ?? "";
  const aliases = new Set(said.flatMap((each) => each.aliases));
  aliases.delete(name);
  const statements = read.flatMap(({ vulnerability, toProducts }) =>
    toProducts({
      vulnerability_id: vulnerability.id === id ? undefined : vulnerability.id || undefined,
      description: vulnerability.description === details ? undefined : vulnerability.description || undefined,
    }),
  );
  return create(AdvisoryRecordSchema, {
    source: head.source,
    document: head.document,
    vulnerability: name,
    format: RecordFormat.OPENVEX,
    ...(published && { publishTime: published.timestamp }),
    ...(modified && { modifyTime: modified.timestamp }),
    revision: BigInt(head.revision),
    aliases: [...aliases],
    details,
    statements,
    extra: extraOf({ ...head.more, vulnerability_id: id || undefined }),
  });
}
