// Parses notifications of several registries into one kind of event.
import { hash } from "node:crypto";
import { isIP } from "node:net";
import { invalidField } from "../aip/errors.ts";
import { clip } from "../base/clip.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { isRepositoryName } from "../storage/registry/repository-name.ts";
import type { RegistryKind } from "../storage/registry/use-coverage.ts";
import { digestPattern, manifestTypes } from "./image.ts";

/** An event of a registry. */
export interface RegistryEvent {
  /** Identical for every delivery of the event: the SHA-256 of its format and id, in hexadecimal. */
  readonly id: string;
  /** A pull reads a manifest. A check asks which digest a tag has. */
  readonly action: "push" | "delete" | "pull" | "check";
  /** The kind of the registry. */
  readonly registry: RegistryKind;
  readonly repository: string;
  /** Empty if the event is about a digest only. */
  readonly tag: string;
  /** Empty if the event is about a tag only. */
  readonly digest: string;
  /** The actor, according to the registry. */
  readonly actor: string;
  /** The registry's time in milliseconds since the epoch; undefined if it reports none. */
  readonly time: number | undefined;
  /** Whether the time is in whole seconds: events of the same time may have happened in any order. */
  readonly hasCoarseTime: boolean;
  /** The client's address and user agent; empty if the registry reports none. */
  readonly address: string;
  readonly userAgent: string;
}

/** The maximum number of events in one notification. */
const maxEvents = 1000;

/** The maximum length of a stored user agent, in UTF-16 units. */
const maxUserAgent = 1000;

/** Most registries report nothing about the client. */
const unknownClient = { address: "", userAgent: "" };

type Header = (name: string) => string | undefined;

/**
 * Parses a notification of CNCF Distribution, Harbor, zot or Azure. Leaves out irrelevant events such as those of layers, and events
 * without a valid repository, because rejecting them would make the registry retry forever. Throws
 * INVALID_ARGUMENT if it is not a notification.
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
      type,
      source: header("ce-source"),
      id: header("ce-id"),
      time: header("ce-time"),
      data: body,
    });
  if (Array.isArray(body)) return body.slice(0, maxEvents + 1).flatMap((item) => parseItem(item));
  return parseItem(body);
}

function parseItem(item: unknown): RegistryEvent[] {
  if (isJsonObject(item)) {
    if (typeof item.specversion === "string") return parseCloudEvent(item);
    if (Array.isArray(item.events)) return item.events.flatMap((event) => parseDistribution(event, "distribution"));
    if (isJsonObject(item.event_data)) return parseHarbor(item.type, item.event_data, item);
    // Event Grid wraps the event of Distribution in its data; the registry's own webhook sends it unwrapped.
    if (isJsonObject(item.data) && isJsonObject(item.data.target)) return parseDistribution(item.data, "azure");
    if (isJsonObject(item.target)) return parseDistribution(item, "azure");
  }
  throw invalidField("body", "must be a notification of CNCF Distribution, Harbor, zot or Azure");
}

/** https://distribution.github.io/distribution/about/notifications/ */
function parseDistribution(event: unknown, registry: RegistryKind): RegistryEvent[] {
  if (!isJsonObject(event) || !isJsonObject(event.target)) return [];
  const { target } = event;
  const action = distributionAction(event);
  const [tag, digest] = [text(target.tag), text(target.digest)];
  const actor = isJsonObject(event.actor) ? text(event.actor.name) : "";
  const id = idOf("distribution", event.id ?? event);
  const about = {
    id,
    registry,
    repository: text(target.repository),
    actor,
    time: timeOf(event.timestamp),
    hasCoarseTime: false,
    ...clientOf(event.request),
  };
  if (action === "delete") return [{ ...about, action, ...(tag === "" ? { tag, digest } : { tag, digest: "" }) }];
  // A layer is not an image: without a tag, only manifests count.
  const isManifest = tag !== "" || manifestTypes.includes(text(target.mediaType));
  return action && isManifest && (action !== "check" || tag !== "") ? [{ ...about, action, tag, digest }] : [];
}

/** Distribution reports a HEAD as a pull, too. */
function distributionAction({ action, request }: JsonObject): RegistryEvent["action"] | undefined {
  if (action === "push" || action === "delete") return action;
  if (action !== "pull" || !isJsonObject(request)) return undefined;
  return request.method === "GET" ? "pull" : request.method === "HEAD" ? "check" : undefined;
}

function clientOf(request: unknown): typeof unknownClient {
  if (!isJsonObject(request)) return unknownClient;
  return { address: addressOf(text(request.addr)), userAgent: clip(text(request.useragent), maxUserAgent) };
}

/** Returns the address without an optional port; empty if it is not an IP address. */
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
    // The format "Default" has no id, so events are distinguished by their content: of two equal ones in one second, the later is lost.
    const id = envelope.id ?? JSON.stringify([type, envelope.occur_at, name]);
    const about = {
      id: idOf("harbor", [id, tag, digest]),
      registry: "harbor" as const,
      action,
      repository: name,
      digest,
      actor: text(envelope.operator),
      time,
      hasCoarseTime: true,
      ...unknownClient,
    };
    // Without a tag, the tag field contains the digest. An artifact is deleted with all of its tags.
    return { ...about, tag: action === "delete" || tag === digest ? "" : tag };
  });
}

const harborActions: Readonly<Record<string, RegistryEvent["action"] | undefined>> = {
  PUSH_ARTIFACT: "push",
  DELETE_ARTIFACT: "delete",
  PULL_ARTIFACT: "pull",
  "harbor.artifact.pushed": "push",
  "harbor.artifact.pulled": "pull",
  "harbor.artifact.deleted": "delete",
};

/** CloudEvents 1.0 of Harbor and of zot, whose types may have another prefix. */
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
  return [
    {
      ...unknownClient,
      id: idOf("zot", [source, id ?? data]),
      registry: "zot",
      action,
      repository: text(data.name),
      tag,
      digest,
      actor: "",
      time: timeOf(time),
      hasCoarseTime: false,
    },
  ];
}

/** Reports whether an event has a valid repository and a valid tag or digest. */
function isSound({ action, repository, tag, digest }: RegistryEvent): boolean {
  if (!isRepositoryName(repository) || !/^(?:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127})?$/.test(tag)) return false;
  return digestPattern.test(digest) || (action === "delete" && digest === "" && tag !== "");
}

/**
 * Parses a time to whole milliseconds: a text, or seconds in Harbor's format "Default". Returns undefined if it is neither.
 */
function timeOf(value: unknown): number | undefined {
  const time = new Date(typeof value === "number" ? value * 1000 : text(value)).getTime();
  return Number.isNaN(time) ? undefined : time;
}

/** Clamps the time of a registry clock that is ahead to the present, and replaces absent times and those before the epoch. */
export function timeWithin(told: number | undefined, now: number): number {
  return told === undefined || told < 0 ? now : Math.min(told, now);
}

function idOf(shape: string, id: unknown): string {
  return hash("sha256", JSON.stringify([shape, id]));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
