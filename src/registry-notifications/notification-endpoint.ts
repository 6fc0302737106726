// The endpoint for notifications of registries. Registries repeat notifications until they get a 2xx, so 2xx means that pushes and
// deletions are on disk. Uses are only counted: a registry sends one notification at a time, and pushes would wait behind them.

import { hash, timingSafeEqual } from "node:crypto";
import { type ApiError, Code, unauthenticated } from "../aip/errors.ts";
import { parseBasic } from "../authn/basic.ts";
import { countFailure, type FailureLimiter } from "../authn/failure-limiter.ts";
import { clip, show } from "../base/clip.ts";
import { type Clock, hourMs } from "../base/clock.ts";
import { isUid } from "../model/uid.ts";
import { OutboundError } from "../outbound/error.ts";
import type { Call } from "../pipeline/call.ts";
import { notificationsPath } from "../services/registry/pushes.ts";
import type { Database } from "../storage/database.ts";
import { UseKind } from "../storage/registry/image-uses.ts";
import { findKnownDigests, type ImageDescription } from "../storage/registry/manifests.ts";
import { isKnownEvent, recordEvent } from "../storage/registry/notification-log.ts";
import { findPlace } from "../storage/registry/repository-name.ts";
import type { Endpoint, EndpointResponse } from "../transport/pages/endpoints.ts";
import { type EventRules, writeEvent } from "./apply-notification.ts";
import { describeImage, type FetchContent } from "./image.ts";
import { registryLimits } from "./limits.ts";
import { parseNotification, type RegistryEvent, timeWithin } from "./notification.ts";
import { isOutOfOrder, lastNotificationTime, recordTime } from "./notification-order.ts";
import { logUnread, type UnreadLog } from "./unread.ts";
import type { UseTally } from "./use-tally.ts";

/** Dependencies of the endpoint. */
export interface NotificationEndpointDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly names: EventRules;
  /** The name of the registry. */
  readonly service: string;
  /** The secret that registries must send. */
  readonly secret: () => string;
  /** Reads content of the registry; undefined if none is configured. */
  readonly content: FetchContent | undefined;
  /** Counts uses of images; undefined if none are recorded. */
  readonly uses: UseTally | undefined;
  /** The name by which the registry knows the reads of this installation. */
  readonly ownName: () => string;
  /** Limits invalid secrets per client address. */
  readonly failures: FailureLimiter;
  readonly maxBodyBytes: number;
  readonly log: UnreadLog;
}

/** The outcome of one event. */
type Outcome = "written" | "repeated" | "ignored" | "outdated";

/** Creates the endpoint. */
export function notificationEndpoint(deps: NotificationEndpointDeps): Endpoint {
  return {
    methods: ["POST"],
    maxBodyBytes: deps.maxBodyBytes,
    admit: (call) => checkSecret(deps, call),
    async handle({ call, json }) {
      const events = parseNotification((name) => call.header(name), json());
      const deadline = deps.clock() + registryLimits.notificationFetchMs;
      const totals = { written: 0, repeated: 0, ignored: 0 };
      // In order: a delete may follow a push of the same tag.
      for (const event of events) {
        if (event.action === "pull" || event.action === "check") {
          countUse(deps, event, UseKind[event.action]);
          continue;
        }
        const outcome = await applyEvent(deps, event, call, deadline);
        totals[outcome === "outdated" ? "ignored" : outcome]++;
      }
      return reply(200, totals);
    },
    refuse,
  };
}

function countUse({ uses, ownName, clock }: NotificationEndpointDeps, event: RegistryEvent, kind: number): void {
  if (!uses || event.actor === ownName()) return;
  const { registry, repository, digest, tag } = event;
  const hour = Math.floor(timeWithin(event.time, clock()) / hourMs);
  uses.add({ registry, repository, digest, tag, hour, actor: actorOf(event), kind, count: 1 });
}

/** Returns the actor as it is stored. Harbor has users of its own; the others know the subject of our tokens. */
function actorOf({ registry, actor }: RegistryEvent): string {
  if (actor === "" || (registry !== "harbor" && isUid(actor))) return actor;
  return `user:${show(actor)}`;
}

/** Accepts the secret as a bearer token, or as the password of Basic credentials with any user name. */
function checkSecret({ secret, failures }: NotificationEndpointDeps, call: Call): void {
  const header = call.header("authorization");
  const shown = parseBasic(header)?.password ?? /^bearer +(.+)$/i.exec(header?.trim() ?? "")?.[1] ?? "";
  // Security case C1: digests have the same length, so the comparison reveals nothing.
  if (timingSafeEqual(hash("sha256", shown, "buffer"), hash("sha256", secret(), "buffer"))) return;
  throw countFailure(failures, call.clientAddress, unauthenticated("the secret of the notifications is required"));
}

async function applyEvent(
  deps: NotificationEndpointDeps,
  event: RegistryEvent,
  call: Call,
  deadline: number,
): Promise<Outcome> {
  if (await isKnownEvent(deps.database.session, event.id)) return "repeated";
  let outcome: Outcome | "overtaken";
  do outcome = await tryEvent(deps, event, call, deadline);
  while (outcome === "overtaken");
  if (outcome === "ignored")
    deps.log.warn({ repository: event.repository }, "a notification names no place for its repository");
  return outcome;
}

/** Applies the event; does nothing if another node has applied a later one. */
async function tryEvent(
  deps: NotificationEndpointDeps,
  event: RegistryEvent,
  { requestId }: Call,
  deadline: number,
): Promise<Outcome | "overtaken"> {
  const { database, clock, names, content } = deps;
  const latest = await lastNotificationTime(database.session, event);
  const isPast = await isPastEvent(deps, event, latest, deadline);
  const image = event.action === "push" && !isPast ? await readImage(deps, event, deadline) : undefined;
  const mayAskAgain = content !== undefined && clock() < deadline;
  // The registry is the actor: a client with its secret can claim any name.
  const actorClaims = { registry: deps.service, ...(event.actor !== "" && { name: clip(event.actor) }) };
  const context = { actor: "", actorClaims, method: notificationsPath, requestId, time: clock() };
  return await database.write(context, async (tx) => {
    if (!isPast) {
      const isSuperseded = await recordTime(tx, event, latest);
      if (mayAskAgain && isSuperseded) return "overtaken";
    }
    if (!(await recordEvent(tx, event.id))) return "repeated";
    if (isPast) return "outdated";
    return (await writeEvent(tx, event, image, names)) ? "written" : "ignored";
  });
}

/** Reports whether the registry has changed since the event. If that cannot be determined, the event is applied. */
async function isPastEvent(
  { clock, content, log }: NotificationEndpointDeps,
  event: RegistryEvent,
  latest: number | undefined,
  deadline: number,
): Promise<boolean> {
  if (!content || clock() >= deadline) return false;
  try {
    return await within(isOutOfOrder(content, event, latest), deadline - clock());
  } catch (error) {
    logUnread(log, error, event, "the registry could not be asked whether a late notification still holds");
    return false;
  }
}

/**
 * Describes the image; returns undefined if it is known already or cannot be read now. `registry sync` then
 * reads it.
 */
async function readImage(
  { database, clock, names, content, log }: NotificationEndpointDeps,
  event: RegistryEvent,
  deadline: number,
): Promise<ImageDescription | undefined> {
  const { repository, digest } = event;
  // At the deadline, the rest of a long list of events is left to `registry sync`.
  if (!content || clock() >= deadline) return undefined;
  const place = await findPlace(database.session, repository, names);
  if (!place) return undefined;
  const known = place.repoUid === undefined ? [] : await findKnownDigests(database.session, place.repoUid, [digest]);
  if (known.length > 0) return undefined;
  try {
    return await within(describeImage(until(deadline, clock, content), repository, digest), deadline - clock());
  } catch (error) {
    logUnread(log, error, event, "an image could not be read from the registry");
    return undefined;
  }
}

/** Stops fetching when the time is up. */
function until(deadline: number, clock: Clock, content: FetchContent): FetchContent {
  return async (...asked) => {
    if (clock() >= deadline) throw outOfTime();
    return await content(...asked);
  };
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(outOfTime()), Math.max(0, ms));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const outOfTime = () => new OutboundError("unavailable", "the registry did not answer in time");

function refuse({ code, message }: ApiError, status: number): EndpointResponse {
  const refusal = reply(status, { code, message });
  if (code !== Code.UNAUTHENTICATED) return refusal;
  // RFC 9110 §11.6.1.
  return { ...refusal, headers: { ...refusal.headers, "www-authenticate": 'Bearer, Basic realm="gatehouse"' } };
}

function reply(status: number, value: object): EndpointResponse {
  return { status, headers: { "content-type": "application/json" }, body: `${JSON.stringify(value)}\n` };
}
