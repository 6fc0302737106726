// Writes advisories in YAML: a document for each package, with the logs of its advisories.
import { stringify } from "yaml";
import {
  type AdvisoryRecord,
  type AdvisoryStatements,
  type ProductStatement,
  RecordFormat,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { isJsonObject, type JsonObject } from "../../json.ts";
import { canonicalJson } from "../extra.ts";
import { readPurl } from "../purl.ts";
import { parseTime } from "../times.ts";
import type { Writer } from "../writing.ts";
import { eventJson } from "./json.ts";

/** Counts something that the format cannot say. */
type Loss = (what: string) => void;

/** A document. */
interface Package {
  /** What its sources say besides the advisories. */
  readonly head: JsonObject;
  readonly advisories: JsonObject[];
}

/** Writes what has a log. A status of another format has none, and a log that is made of it would say when it came about. */
export const writeYaml: Writer = async function* (advisories, _options, losses) {
  const packages = new Map<string, Package>();
  for await (const each of advisories) addAdvisory(packages, each, losses.add);
  let separator = "";
  for (const [name, { head, advisories: all }] of [...packages].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { "schema-version": version = "2.0.2", package: about = {}, document = {} } = head;
    const whole = {
      "schema-version": version,
      package: { name, ...(about as object) },
      ...(document as object),
      advisories: all,
    };
    yield separator + stringify(whole, { lineWidth: 0, aliasDuplicateObjects: false });
    separator = "---\n";
  }
};

function addAdvisory(
  packages: Map<string, Package>,
  { advisory, records }: AdvisoryStatements,
  add: (what: string, where: string) => void,
) {
  const id = advisory?.advisoryId ?? records[0]?.advisoryId ?? "";
  const loss: Loss = (what) => add(what, id);
  const logs = records.flatMap((record) => logsOf(record, advisory?.advisoryId, loss));
  const own = logs.filter(({ record }) => record.format === RecordFormat.YAML).map(({ record }) => record);
  for (const [name, ofPackage] of Map.groupBy(logs, (log) => log.name)) {
    const events = ofPackage.flatMap((log) => eventsOf(log.statement, loss));
    if (events.length === 0) continue;
    const aliases = own.length > 0 ? [...new Set(own.flatMap((record) => record.aliases))] : (advisory?.aliases ?? []);
    const { advisory: rest = {}, ...head } = membersOf(own[0]?.extra ?? "");
    const known = packages.get(name) ?? { head, advisories: [] };
    packages.set(name, known);
    known.advisories.push({ id, ...(aliases.length > 0 && { aliases }), ...(rest as object), events: inOrder(events) });
  }
}

/** What a record has a log of, and the package that it is about. */
interface Log {
  readonly record: AdvisoryRecord;
  readonly statement: ProductStatement;
  readonly name: string;
}

function logsOf(record: AdvisoryRecord, id: string | undefined, loss: Loss): Log[] {
  if (record.withdrawTime) loss("a record that its source withdrew");
  if (record.withdrawTime) return [];
  const own = record.statements.filter(({ advisoryId }) => advisoryId === "" || advisoryId === id);
  return own.flatMap((statement) => {
    const purl = readPurl(statement.product?.purl ?? "");
    const name = purl?.type === "apk" ? purl.name : purl ? "" : (statement.product?.name ?? "");
    if (name === "") loss("a product that is not an apk package");
    else if (statement.events.length === 0) loss("a status without a log");
    return name === "" || statement.events.length === 0 ? [] : [{ record, statement, name }];
  });
}

/** The events that the format has a word for. */
function eventsOf({ events, extra }: ProductStatement, loss: Loss): JsonObject[] {
  const { events: extras } = membersOf(extra);
  return events.flatMap((event, i) => {
    const only: unknown = Array.isArray(extras) ? extras[i] : undefined;
    const json = eventJson(event, isJsonObject(only) ? only : {}, loss);
    return json ? [json] : [];
  });
}

/** Events of several logs by their time; an event that two logs have is there once. */
function inOrder(events: readonly JsonObject[]): JsonObject[] {
  const unique = new Map(events.map((event) => [canonicalJson(event), event]));
  const timeOf = ({ timestamp }: JsonObject) => parseTime(String(timestamp))?.milliseconds ?? 0;
  return [...unique.values()].sort((a, b) => timeOf(a) - timeOf(b));
}

function membersOf(extra: string): JsonObject {
  return extra === "" ? {} : (JSON.parse(extra) as JsonObject);
}
