// Reads CSAF 2.0 documents: a record for each vulnerability.
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  RecordFormat,
  type RecordReference,
  RecordReferenceSchema,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { BadDocument, BadRecord, isText, Members, Problems, readItem } from "../document.ts";
import { extraOf } from "../extra.ts";
import type { ReadDocument, Reader, ReadItem } from "../reading.ts";
import type { ReadTime } from "../times.ts";
import { csafLimits, smallerDocuments } from "./limits.ts";
import { ProductReader } from "./products.ts";
import { readStatements } from "./statements.ts";
import { ProductTree } from "./tree.ts";
import { revisionOf } from "./version.ts";

/** The fields that all records of a document have in common. */
interface Head {
  readonly source: string;
  readonly document: string;
  readonly trackingId: string;
  readonly modified: ReadTime | undefined;
  readonly published: ReadTime | undefined;
  readonly revision: number;
}

/** Reads a document of CSAF 2.0, of any profile. One without vulnerabilities has no records. */
export const readCsaf: Reader = (document, options): ReadDocument => {
  if (!isJsonObject(document) || !isJsonObject(document.document)) throw new BadDocument("document must be an object");
  const vulnerabilities = document.vulnerabilities ?? [];
  if (!Array.isArray(vulnerabilities)) throw new BadDocument("vulnerabilities must be a list");
  const problems = new Problems();
  const head = readHead(new Members(document.document, "document", problems), options.source);
  const tree = new ProductTree(document.product_tree);
  const { source, document: id, modified, revision } = head;
  return {
    items: readVulnerabilities(vulnerabilities, head, tree, problems),
    ...(modified && { completes: { source, document: id, modifyTime: modified.milliseconds, revision } }),
  };
};

function readHead(document: Members, source: string): Head {
  const publisher = document.object("publisher");
  const tracking = document.object("tracking");
  const namespace = publisher?.text("namespace") ?? "";
  const trackingId = tracking?.text("id") || document.text("title");
  if (trackingId === "") throw new BadDocument("document has neither tracking.id nor title");
  const version = tracking?.text("version") ?? "";
  const revision = revisionOf(version);
  if (revision === undefined && version !== "") tracking?.drop("version", "must be a number or a semantic version");
  return {
    source: source || publisher?.text("name") || "csaf",
    document: namespace === "" ? trackingId : `${namespace.replace(/\/$/, "")}/${trackingId}`,
    trackingId,
    modified: tracking?.time("current_release_date"),
    published: tracking?.time("initial_release_date"),
    revision: revision ?? 0,
  };
}

/** `ofHead` are the problems of the document itself: those of its first record. */
function* readVulnerabilities(
  vulnerabilities: readonly unknown[],
  head: Head,
  tree: ProductTree,
  ofHead: Problems,
): Generator<ReadItem> {
  const reader = new ProductReader(tree);
  const taken = new Set<string>();
  for (const [i, value] of vulnerabilities.entries()) {
    const name = nameOf(value) || `vulnerabilities[${i}]`;
    const item = readItem(name, value, (vulnerability) =>
      readVulnerability(vulnerability, i, { head, tree, reader, taken }),
    );
    yield i === 0 ? { ...item, problems: [...ofHead.list(), ...item.problems] } : item;
  }
}

function nameOf(value: unknown): string {
  const { cve, ids } = isJsonObject(value) ? value : {};
  const first: unknown = Array.isArray(ids) ? ids[0] : undefined;
  const texts = [cve, isJsonObject(first) ? first.text : undefined];
  return texts.find((text): text is string => typeof text === "string" && text !== "") ?? "";
}

interface Context {
  readonly head: Head;
  readonly tree: ProductTree;
  readonly reader: ProductReader;
  /** The names of the vulnerabilities before. */
  readonly taken: Set<string>;
}

function readVulnerability(members: Members, index: number, { head, tree, reader, taken }: Context) {
  const { statements, general, shared } = readStatements(members, tree, reader);
  const cve = members.text("cve");
  const ids = readIds(members);
  const idTexts = ids.map(({ text }) => String(text));
  const id = freeName(cve, idTexts, head.trackingId, index, taken);
  const references = readReferences(members);
  const released = members.time("release_date");
  const discovered = members.time("discovery_date");
  const title = members.text("title");
  const notes = members.objects("notes").map((note) => note.rest());
  const raw = {
    cve: cve || undefined,
    ids: nonEmpty(ids),
    notes: nonEmpty(notes),
    title: title || undefined,
    release_date: released && members.value("release_date"),
    discovery_date: discovered && members.value("discovery_date"),
    threats: nonEmpty(general.map(({ json }) => json)),
    ...members.rest(),
  };
  const record = create(AdvisoryRecordSchema, {
    source: head.source,
    document: head.document,
    vulnerability: id,
    format: RecordFormat.CSAF,
    ...(head.published && { publishTime: head.published.timestamp }),
    ...(head.modified && { modifyTime: head.modified.timestamp }),
    revision: BigInt(head.revision),
    aliases: aliasesOf([cve, ...idTexts], id, members),
    ...readNotes(title, notes),
    references,
    statements,
    extra: extraOf({ vulnerability: raw, details: nonEmpty(shared.details), branches: nonEmpty(shared.branches) }),
  });
  checkSize(record);
  return record;
}

function checkSize(record: AdvisoryRecord): void {
  const size = toBinary(AdvisoryRecordSchema, record).length;
  if (size <= csafLimits.recordBytes) return;
  const products = `names so many products that the record has ${size} bytes, more than the limit of ${csafLimits.recordBytes}`;
  throw new BadRecord("product_status", `${products}; ${smallerDocuments}`);
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** CSAF 2.0 §3.2.3.6: ids that others than CVE gave to the vulnerability. */
function readIds(members: Members): JsonObject[] {
  return members.objects("ids").flatMap((id) => {
    const system = id.text("system_name");
    const text = id.text("text");
    if (text === "") id.drop("text", "is missing");
    return text === "" ? [] : [{ system_name: system, text }];
  });
}

/** Returns the name of the vulnerability among those of the document. One that has no id has that of the document. */
function freeName(cve: string, ids: readonly string[], trackingId: string, index: number, taken: Set<string>): string {
  if (taken.has(cve)) throw new BadRecord("cve", `must not be that of another vulnerability of the document: ${cve}`);
  const ofDocument = trackingId.replace(/\s+/g, "_").slice(0, 200);
  const name = [cve, ...ids, ofDocument].filter(isId).find((each) => !taken.has(each)) ?? `${ofDocument}#${index + 1}`;
  taken.add(name);
  return name;
}

/** Whether a text can be looked up as an id. */
function isId(text: string): boolean {
  return /^\S{1,256}$/.test(text);
}

function aliasesOf(texts: readonly string[], id: string, members: Members): string[] {
  const others = [...new Set(texts.filter((text) => text !== "" && text !== id))];
  for (const text of others) {
    if (!isId(text))
      members.drop(
        "ids",
        `has an id that cannot be an alias, because it contains blanks or is too long: ${text.slice(0, 100)}`,
      );
  }
  return others.filter(isId);
}

function readReferences(members: Members): RecordReference[] {
  return members.objects("references").flatMap((reference) => {
    const url = reference.text("url");
    if (url === "") reference.drop("url", "is missing");
    const type = reference.text("category");
    return url === "" ? [] : [create(RecordReferenceSchema, { type, url, summary: reference.text("summary") })];
  });
}

/** Returns the title and the description of the vulnerability, or the best substitutes. */
function readNotes(
  title: string,
  notes: readonly JsonObject[],
): { readonly summary: string; readonly details: string } {
  const textsOf = (category: string) =>
    notes.flatMap((note) => (note.category === category && isText(note.text) ? [note.text] : []));
  const [summary = ""] = title === "" ? textsOf("summary") : [title];
  const found = ["description", "details", "summary", "general"]
    .map(textsOf)
    .find((texts) => texts.some((text) => text !== summary));
  return { summary, details: (found ?? []).filter((text) => text !== summary).join("\n\n") };
}
