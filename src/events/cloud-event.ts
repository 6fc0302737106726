// Builds CloudEvents 1.0 in binary mode of the HTTP binding: attributes are headers, the data is the body.
// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
import { createHash } from "node:crypto";
import type { EventDefinition } from "../resource/event-definition.ts";
import type { readChanges } from "../storage/change-log/change-log.ts";
import type { Session } from "../storage/engine/session.ts";

/** An entry of the change log, as read. */
export type Change = Awaited<ReturnType<typeof readChanges>>[number];

/** Changes of one call that one event reports. */
export type Changes = readonly [Change, ...Change[]];

/** An event ready to be sent. */
export interface CloudEvent {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly data: string;
}

/** Builds the event of some changes. The same changes always get the same id. `baseUrl` is the address of this server. */
export async function cloudEventOf(
  definition: EventDefinition,
  changes: Changes,
  session: Session,
  baseUrl: string,
): Promise<CloudEvent> {
  const [first] = changes;
  const { type, bodyType, group, subject, identityProvider } = definition;
  const body = await definition.body(changes, session);
  const about = subject(changes.map(({ uid }) => uid));
  const attributes = {
    "ce-specversion": "1.0",
    "ce-id": idOf(first, baseUrl),
    "ce-type": type,
    "ce-source": definition.source(baseUrl),
    "ce-time": new Date(first.time).toISOString(),
    // CloudEvents §3.1: a subject must not be empty.
    ...(about !== "" && { "ce-subject": about }),
    "ce-group": group(first.uid),
    "ce-audience": "customer",
    ...(bodyType !== undefined && { "ce-bodytype": bodyType }),
    ...(identityProvider && { "ce-identityprovider": identityProvider(first.uid) }),
    ...traceOf(first.requestId),
  };
  const actor = { subject: first.actor, act: first.actorClaims ?? {} };
  const data = JSON.stringify({ actor, ...(body !== undefined && { body }) });
  return { headers: { "content-type": "application/json", ...attributes }, data };
}

/**
 * Derives the id of an event, a UUID (RFC 9562 §5.8), from its first change. The time is part of it: after the restore of a backup,
 * another change gets the same sequence number.
 */
function idOf({ sequence, time }: Change, baseUrl: string): string {
  const digest = createHash("sha256").update(`${baseUrl}\n${sequence}\n${time}`).digest();
  digest[6] = (digest[6]! & 0x0f) | 0x80;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  return digest.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** W3C Trace Context §3.2: makes the work of the receiver part of the trace of the call. */
function traceOf(requestId: string): { traceparent?: string } {
  if (!/^[0-9a-f]{32}$/.test(requestId) || /^0+$/.test(requestId)) return {};
  return { traceparent: `00-${requestId}-${requestId.slice(16).replace(/^0{16}$/, "0000000000000001")}-00` };
}
