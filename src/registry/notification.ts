// What registries tell of pushes and deletions, each in its own shape, as one kind of event.
import { hash } from "node:crypto";
import { isIP } from "node:net";
import { clip } from "../aip/clip.ts";
import { invalidField } from "../aip/errors.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { digestPattern, manifestTypes } from "./image.ts";
import { isRepositoryName } from "./name.ts";

/** Something that happened in a registry. */
export interface RegistryEvent {
  /** The same for every delivery of the event: SHA-256, in hexadecimal digits, of its shape and its id. */
  readonly id: string;
  readonly action: "push" | "delete";
  readonly repository: string;
  /** Empty where the event is about a digest alone. */
  readonly tag: string;
  /** Empty where the event is about a tag alone. */
  readonly digest: string;
  /** Who did it, in the registry's words. */
  readonly actor: string;
  /** When, by the registry's clock, in milliseconds since the epoch; undefined when it does not say. */
  readonly time: number | undefined;
  /** From where and with which program it was done; both empty where the registry does not say. */
  readonly address: string;
  readonly userAgent: string;
}

/** How many events one notification may have. */
const maxEvents = 1000;

/** How much is kept of what clients say of themselves, in UTF-16 units. */
const maxUserAgent = 1000;

/** What most registries say of the client: nothing. */
const unknownClient = { address: "", userAgent: "" };

type Header = (name: string) => string | undefined;

/**
 * Reads a notification: of CNCF Distribution, Harbor, zot, or Azure. Events of no concern, such as pulls, are left out, and
 * so is what names no repository: to refuse it would have it sent for ever. INVALID_ARGUMENT for what is no notification.
 */
export function parseNotification(header: Header, body: unknown): RegistryEvent[] {
  const events = parseBody(header, body);
  if (events.length > maxEvents) throw invalidField("body", `must not have more than ${maxEvents} events`);
  return events.filter(isSound);
}

function parseBody(header: Header, body: unknown): RegistryEvent[] {
  // CloudEvents HTTP binding 1.0.2 §3.1: in binary mode the headers are the envelope.
  const type = header("ce-type");
  if (type !== undefined)
    return parseCloudEvent({
      ...{ type, source: header("ce-source"), id: header("ce-id"), time: header("ce-time"), data: body },
    });
  if (Array.isArray(body)) return body.slice(0, maxEvents + 1).flatMap((item) => parseItem(item));
  return parseItem(body);
}

function parseItem(item: unknown): RegistryEvent[] {
  if (isJsonObject(item)) {
    if (typeof item.specversion === "string") return parseCloudEvent(item);
    if (Array.isArray(item.events)) return item.events.flatMap((event) => parseDistribution(event));
    if (isJsonObject(item.event_data)) return parseHarbor(item.type, item.event_data, item);
    // Event Grid wraps the event of Distribution in its data; the registry's own webhook sends it bare.
    if (isJsonObject(item.data) && isJsonObject(item.data.target)) return parseDistribution(item.data);
    if (isJsonObject(item.target)) return parseDistribution(item);
  }
  throw invalidField("body", "must be a notification of CNCF Distribution, Harbor, zot or Azure");
}

/** https://distribution.github.io/distribution/about/notifications/ */
function parseDistribution(event: unknown): RegistryEvent[] {
  if (!isJsonObject(event) || !isJsonObject(event.target)) return [];
  const { target, action } = event;
  const [tag, digest] = [text(target.tag), text(target.digest)];
  const actor = isJsonObject(event.actor) ? text(event.actor.name) : "";
  const id = idOf("distribution", event.id ?? event);
  const about = {
    ...{ id, repository: text(target.repository), actor, time: timeOf(event.timestamp) },
    ...clientOf(event.request),
  };
  if (action === "delete") return [{ ...about, action, ...(tag === "" ? { tag, digest } : { tag, digest: "" }) }];
  // A layer is no image: what has no tag counts only as a manifest.
  const isManifest = tag !== "" || manifestTypes.includes(text(target.mediaType));
  return action === "push" && isManifest ? [{ ...about, action, tag, digest }] : [];
}

function clientOf(request: unknown): typeof unknownClient {
  if (!isJsonObject(request)) return unknownClient;
  return { address: addressOf(text(request.addr)), userAgent: clip(text(request.useragent), maxUserAgent) };
}

/** The address without the port, which may or may not be there; empty for what is none, such as a name. */
function addressOf(peer: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(peer) ?? [];
  const address = bracketed ?? plain ?? peer;
  return isIP(address) === 0 ? "" : address;
}

/** https://goharbor.io/docs/main/working-with-projects/project-configuration/configure-webhooks/ */
function parseHarbor(type: unknown, data: JsonObject, envelope: JsonObject): RegistryEvent[] {
  const action = harborActions[text(type)];
  const { repository, resources } = data;
  const time = timeOf(envelope.occur_at ?? envelope.time);
  if (!action || !isJsonObject(repository) || !Array.isArray(resources)) return [];
  return resources.filter(isJsonObject).map((resource) => {
    const [tag, digest] = [text(resource.tag), text(resource.digest)];
    const name = text(repository.repo_full_name);
    // The older form has no id: what tells two events apart is what they say.
    const id = envelope.id ?? JSON.stringify([type, envelope.occur_at, name]);
    const about = {
      id: idOf("harbor", [id, tag, digest]),
      action,
      repository: name,
      digest,
      actor: text(envelope.operator),
      time,
      ...unknownClient,
    };
    // A push without a tag has the digest in its place, and an artifact is deleted with all of its tags.
    return { ...about, tag: action === "delete" || tag === digest ? "" : tag };
  });
}

const harborActions: Readonly<Record<string, RegistryEvent["action"] | undefined>> = {
  PUSH_ARTIFACT: "push",
  DELETE_ARTIFACT: "delete",
  "harbor.artifact.pushed": "push",
  "harbor.artifact.deleted": "delete",
};

/** CloudEvents 1.0: of Harbor, and of zot, whose types may have another prefix. */
function parseCloudEvent({ type, source, id, time, data }: JsonObject): RegistryEvent[] {
  if (!isJsonObject(data)) return [];
  if (Object.hasOwn(harborActions, text(type)))
    return parseHarbor(type, data, { id: [source, id ?? data], operator: data.operator, time });
  const action = /\.image\.(updated|deleted)$/.exec(text(type))?.[1] === "deleted" ? "delete" : "push";
  if (!/\.image\.(?:updated|deleted)$/.test(text(type))) return [];
  const reference = text(data.reference);
  const isDigest = reference.includes(":");
  const tag = isDigest ? "" : reference;
  const digest = action === "delete" && !isDigest ? "" : text(data.digest) || (isDigest ? reference : "");
  const about = {
    ...{ id: idOf("zot", [source, id ?? data]), repository: text(data.name), actor: "", time: timeOf(time) },
    ...unknownClient,
  };
  return [{ ...about, action, tag, digest }];
}

/** What names a repository and something in it that can be kept. */
function isSound({ action, repository, tag, digest }: RegistryEvent): boolean {
  if (!isRepositoryName(repository) || !/^(?:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127})?$/.test(tag)) return false;
  return digestPattern.test(digest) || (action === "delete" && digest === "" && tag !== "");
}

/** In whole milliseconds: of a text, or of the seconds of Harbor's older form; undefined for what is no time. */
function timeOf(value: unknown): number | undefined {
  const time = new Date(typeof value === "number" ? value * 1000 : text(value)).getTime();
  return Number.isNaN(time) ? undefined : time;
}

function idOf(shape: string, id: unknown): string {
  return hash("sha256", JSON.stringify([shape, id]));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
