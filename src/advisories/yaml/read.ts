// Reads advisories as they are written by hand: a YAML document for each package, with a log of events for each advisory.
import { create } from "@bufbuild/protobuf";
import {
  type AdvisoryRecord,
  AdvisoryRecordSchema,
  ProductStatementSchema,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { BadDocument, BadRecord, documentLimits, isNothing, Members, Problems, readItem } from "../document.ts";
import { extraOf } from "../extra.ts";
import { productOfArtifact } from "../product.ts";
import type { Reader, ReadItem } from "../reading.ts";
import { type ReadEvent, readEvent, unlessEmpty } from "./events.ts";

/** Returns whether a document, or one of a list of documents, is of this format. */
export function isYamlAdvisories(document: unknown): boolean {
  if (Array.isArray(document)) return document.some((each) => isJsonObject(each) && isYamlAdvisories(each));
  return isJsonObject(document) && "schema-version" in document && "package" in document;
}

/** Reads the advisories of a package, or of a list of documents. An advisory is a record, and its log is one statement. */
export const readYamlAdvisories: Reader = (document, { source }) => {
  const author = source || "yaml";
  const seen = new Set<string>();
  if (!Array.isArray(document)) return { items: itemsOf(readHead(document), author, seen) };
  return { items: itemsOfAll(document, author, seen) };
};

function* itemsOfAll(documents: readonly unknown[], author: string, seen: Set<string>): Generator<ReadItem> {
  for (const [i, document] of documents.entries()) {
    try {
      yield* itemsOf(readHead(document), author, seen);
    } catch (error) {
      if (!(error instanceof BadDocument)) throw error;
      yield { name: `document ${i + 1}`, record: undefined, problems: [{ path: "", rule: error.message }] };
    }
  }
}

/** A document of one package. */
interface Head {
  readonly name: string;
  readonly advisories: readonly unknown[];
  /** The document's other members, for `extra`. */
  readonly extra: JsonObject;
}

/** Throws BadDocument when no advisory of the document can be read. */
function readHead(document: unknown): Head {
  if (!isJsonObject(document)) throw new BadDocument("must be an object");
  const problems = new Problems();
  const root = new Members(document, "", problems);
  const version = root.text("schema-version");
  if (!/^2(\.\d+)*$/.test(version))
    throw new BadDocument(`has the schema-version ${JSON.stringify(version.slice(0, 20))}, not 2`);
  const about = root.object("package");
  const name = about?.text("name") ?? "";
  if (name === "") throw new BadDocument("package.name is missing");
  const advisories = isNothing(root.value("advisories")) ? [] : root.list("advisories", documentLimits.packages);
  const rest = { document: unlessEmpty(root.rest()), package: unlessEmpty(about?.rest() ?? {}) };
  const [problem] = problems.list();
  if (problem) throw new BadDocument(`${problem.path} ${problem.rule}`);
  const extra = { "schema-version": version, ...rest };
  // Every record has a copy.
  if (extraOf(extra).length > headLength)
    throw new BadDocument(`has more than ${headLength} characters besides its advisories`);
  return { name, advisories, extra };
}

const headLength = 10_000;

function* itemsOf(head: Head, author: string, seen: Set<string>): Generator<ReadItem> {
  for (const value of head.advisories) {
    const name = isJsonObject(value) && typeof value.id === "string" ? value.id : "";
    yield readItem(name, value, (advisory) => readAdvisory(advisory, head, author, seen));
  }
}

function readAdvisory(advisory: Members, { name, extra }: Head, author: string, seen: Set<string>): AdvisoryRecord {
  const id = advisory.requiredText("id");
  const key = JSON.stringify([name, id]);
  if (seen.has(key)) throw new BadRecord("id", `must be unique: ${name} has ${id} twice`);
  const aliases = isNothing(advisory.value("aliases")) ? [] : advisory.texts("aliases");
  const items = isNothing(advisory.value("events")) ? [] : advisory.strict().objects("events");
  if (items.length === 0) throw new BadRecord("events", "must have an event that can be read");
  // The event with the latest time is the one that holds.
  const events = items.map((item) => readEvent(item, author)).sort((a, b) => a.milliseconds - b.milliseconds);
  seen.add(key);
  const hasExtra = events.some((event) => unlessEmpty(event.extra));
  const statement = create(ProductStatementSchema, {
    product: productOfArtifact({ name, type: "apk", architecture: "" }, undefined),
    subcomponents: componentsOf(events),
    events: events.map(({ event }) => event),
    extra: hasExtra ? extraOf({ events: events.map((event) => event.extra) }) : "",
  });
  return create(AdvisoryRecordSchema, {
    source: author,
    document: name,
    vulnerability: id,
    advisoryId: id,
    format: RecordFormat.YAML,
    aliases,
    statements: [statement],
    extra: extraOf({ ...extra, advisory: unlessEmpty(advisory.rest()) }),
  });
}

/** Returns the components of the last scanner detection, as package URLs or names. */
function componentsOf(events: readonly ReadEvent[]): string[] {
  const scans = events.flatMap(({ event: { type } }) =>
    type.case === "detection" && type.value.type.case === "scanv1" ? [type.value.type.value] : [],
  );
  const { component: name = "", componentType: type = "" } = scans.at(-1) ?? {};
  if (name === "") return [];
  return [productOfArtifact({ name, type: "library", architecture: "" }, { name, type }).purl || name];
}
