// Advisories as they are written by hand: one YAML document for each package.
import { AdvisoryEvent_FalsePositiveDetermination_Type as Reason } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { isJsonObject, type JsonObject } from "../../../json.ts";
import { BadDocument, list, members, requiredText, text, texts, time } from "../document.ts";
import type { Reader } from "../reader.ts";
import type { Component, EventType, Found } from "../record.ts";
import { eventWords, falsePositive, fixedIn, noted, reasonWords, underInvestigation } from "../statuses.ts";

const schemaVersions = /^2(\.0(\.[0-2])?)?$/;

/** Whether a document is of this format. */
export function isYamlAdvisories(document: unknown): boolean {
  return isJsonObject(document) && "schema-version" in document && "package" in document;
}

/** Reads the advisories of a package. */
export const readYamlAdvisories: Reader = function* (document, options) {
  const root = members(document, "the document");
  const version = requiredText(root["schema-version"], "schema-version");
  if (!schemaVersions.test(version)) throw new BadDocument(`schema-version ${version.slice(0, 20)} is not known`);
  const name = requiredText(members(root.package, "package").name, "package.name");
  const seen = new Set<string>();
  for (const item of list(root.advisories, "advisories")) {
    const id = isJsonObject(item) && typeof item.id === "string" ? item.id : "";
    yield { name: id, read: () => [readAdvisory(members(item, "an advisory"), name, options.author || "yaml", seen)] };
  }
};

function readAdvisory(advisory: JsonObject, packageName: string, author: string, seen: Set<string>): Found {
  const id = requiredText(advisory.id, "id");
  const aliases = texts(advisory.aliases, "aliases");
  for (const each of [id, ...aliases]) {
    if (seen.has(each)) throw new BadDocument(`${each} is there twice`);
  }
  const entries = list(advisory.events, "events").map((event) => members(event, "an event"));
  if (entries.length === 0) throw new BadDocument("it has no events");
  const events = entries.map((event) => ({ time: requiredTime(event), type: typeOf(event) }));
  for (const each of [id, ...aliases]) seen.add(each);
  const component = lastComponent(entries);
  const artifact = { name: packageName, type: "apk" };
  return { id, author, artifact, ...(component ? { component } : {}), aliases, events, origin: packageName };
}

function requiredTime(event: JsonObject): number {
  const found = time(event.timestamp, "timestamp");
  if (found === undefined) throw new BadDocument("timestamp is missing");
  return found;
}

/** What an event says. The data is missing now and then; the event is one all the same. */
function typeOf(event: JsonObject): EventType {
  const word = requiredText(event.type, "type");
  const data = event.data === undefined || event.data === null || event.data === "" ? {} : members(event.data, "data");
  const note = text(data.note, "note");
  if (!Object.hasOwn(eventWords, word)) throw new BadDocument(`the type of event ${word.slice(0, 40)} is not known`);
  const name = eventWords[word as keyof typeof eventWords];
  if (name === "detection") return detectionOf(data);
  if (name === "fixed") return fixedIn(text(data["fixed-version"], "fixed-version"));
  if (name === "falsePositiveDetermination") return falsePositive(reasonOf(text(data.type, "data.type")), note);
  return noted(name, note);
}

function reasonOf(word: string): Reason {
  if (word === "") return Reason.UNSPECIFIED;
  const reason = reasonWords.get(word);
  if (reason === undefined) throw new BadDocument(`the type of false positive ${word.slice(0, 60)} is not known`);
  return reason;
}

function detectionOf(data: JsonObject): EventType {
  const kind = text(data.type, "data.type");
  const inner = isJsonObject(data.data) ? data.data : {};
  const field = (name: string) => text(inner[name], name);
  if (kind === "scan/v1") {
    const value = {
      ...{ scanner: field("scanner"), subpackage: field("subpackageName"), componentId: field("componentID") },
      ...{ component: field("componentName"), componentVersion: field("componentVersion") },
      ...{ componentType: field("componentType"), componentLocation: field("componentLocation") },
    };
    return { case: "detection", value: { type: { case: "scanv1", value } } };
  }
  if (kind === "nvdapi") {
    const value = { cpeSearched: field("cpeSearched"), cpeFound: field("cpeFound") };
    return { case: "detection", value: { type: { case: "nvdapi", value } } };
  }
  if (kind === "" || kind === "manual") return underInvestigation;
  throw new BadDocument(`the type of detection ${kind.slice(0, 40)} is not known`);
}

/** The component that a scanner found last. */
function lastComponent(events: readonly JsonObject[]): Component | undefined {
  const scans = events
    .filter(
      ({ type, data }) =>
        type === "detection" && isJsonObject(data) && data.type === "scan/v1" && isJsonObject(data.data),
    )
    .toSorted((a, b) => requiredTime(a) - requiredTime(b));
  const last = scans.at(-1);
  if (!last) return undefined;
  const found = (last.data as JsonObject).data as JsonObject;
  const name = text(found.componentName, "componentName");
  const location = text(found.componentLocation, "componentLocation");
  return name === "" ? undefined : { name, type: text(found.componentType, "componentType"), location };
}
