// Where registries tell of pushes and deletions. They repeat what is not answered by 2xx, so 2xx says: it is on disk.

import { hash, timingSafeEqual } from "node:crypto";
import { type ApiError, Code, rateLimited, unauthenticated } from "../aip/errors.ts";
import { parseBasic } from "../authn/basic.ts";
import { type FailureLimiter, windowMs } from "../authn/failure-limiter.ts";
import { OutboundError } from "../authn/outbound-error.ts";
import type { Clock } from "../base/clock.ts";
import { isUid } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { notificationsPath } from "../services/registry/pushes.ts";
import type { Database } from "../storage/database.ts";
import { findKnownDigests } from "../storage/registry/manifests.ts";
import { isKnownEvent, recordEvent } from "../storage/registry/notification-log.ts";
import type { Endpoint, EndpointReply } from "../transport/pages/endpoints.ts";
import { writeEvent } from "./apply-notification.ts";
import { describeImage, type FetchContent, type ImagePlatform } from "./image.ts";
import { findPlace, type NameRules } from "./name.ts";
import { parseNotification, type RegistryEvent } from "./notification.ts";
import { isOutdated, isOvertaken, latestTold, rememberTime } from "./notification-order.ts";
import { logUnread, type UnreadLog } from "./unread.ts";

/** What the endpoint rests on. */
export interface NotificationEndpointDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly names: NameRules;
  /** What a registry must show. */
  readonly secret: () => string;
  /** Reads the registry; undefined when none is configured. */
  readonly content: FetchContent | undefined;
  /** Bounds the bad secrets of one address. */
  readonly failures: FailureLimiter;
  readonly maxBodyBytes: number;
  /** How long the registry is waited for, in milliseconds. */
  readonly fetchMs: number;
  readonly log: UnreadLog;
}

/** What became of the events of a notification. */
type Outcome = "written" | "repeated" | "ignored" | "outdated";

/** Makes the endpoint. */
export function notificationEndpoint(deps: NotificationEndpointDeps): Endpoint {
  return {
    methods: ["POST"],
    maxBodyBytes: deps.maxBodyBytes,
    admit: (call) => checkSecret(deps, call),
    async handle({ call, json }) {
      const events = parseNotification((name) => call.header(name), json());
      const deadline = deps.clock() + deps.fetchMs;
      const totals = { written: 0, repeated: 0, ignored: 0 };
      // In their order: a deletion may follow a push of the same tag.
      for (const event of events) {
        const outcome = await applyEvent(deps, event, call, deadline);
        totals[outcome === "outdated" ? "ignored" : outcome]++;
      }
      return reply(200, totals);
    },
    refuse,
  };
}

/** A bearer token, or the password of Basic credentials of any user name. */
function checkSecret({ secret, failures }: NotificationEndpointDeps, call: Call): void {
  const header = call.header("authorization");
  const shown = parseBasic(header)?.password ?? /^bearer +(.+)$/i.exec(header?.trim() ?? "")?.[1] ?? "";
  // Security case C1: digests have one length, and how far they agree tells nothing.
  if (timingSafeEqual(hash("sha256", shown, "buffer"), hash("sha256", secret(), "buffer"))) return;
  if (failures.isSpent(call.clientAddress))
    throw rateLimited("too many bad secrets from this address; try again in a second", windowMs);
  failures.spend(call.clientAddress);
  throw unauthenticated("the secret of the notifications is required");
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

/** Writes the event as the registry has it; nothing when another node has told of something later meanwhile. */
async function tryEvent(
  deps: NotificationEndpointDeps,
  event: RegistryEvent,
  { requestId }: Call,
  deadline: number,
): Promise<Outcome | "overtaken"> {
  const { database, clock, names, content } = deps;
  const latest = await latestTold(database.session, event);
  const isPast = await isPastEvent(deps, event, latest, deadline);
  const platforms = event.action === "push" && !isPast ? await readImage(deps, event, deadline) : undefined;
  const mayAskAgain = content !== undefined && clock() < deadline;
  const actor = isUid(event.actor) ? event.actor : "";
  const context = { actor, method: notificationsPath, requestId, time: clock() };
  return await database.write(context, async (tx) => {
    if (!isPast) {
      await rememberTime(tx, event);
      if (mayAskAgain && (await isOvertaken(tx, event, latest))) return "overtaken";
    }
    if (!(await recordEvent(tx, event.id))) return "repeated";
    if (isPast) return "outdated";
    return (await writeEvent(tx, event, platforms, names)) ? "written" : "ignored";
  });
}

/** Whether the registry has gone on since; an event of which that cannot be found out now is taken as it comes. */
async function isPastEvent(
  { clock, content, log }: NotificationEndpointDeps,
  event: RegistryEvent,
  latest: number | undefined,
  deadline: number,
): Promise<boolean> {
  if (!content || clock() >= deadline) return false;
  try {
    return await within(isOutdated(content, event, latest), deadline - clock());
  } catch (error) {
    logUnread(log, error, event, "the registry could not be asked whether a late notification still holds");
    return false;
  }
}

/** What the image is for; undefined when that is known already or cannot be found out now. `registry sync` then does. */
async function readImage(
  { database, clock, names, content, log }: NotificationEndpointDeps,
  event: RegistryEvent,
  deadline: number,
): Promise<ImagePlatform[] | undefined> {
  const { repository, digest } = event;
  // Of a long list of events, what is left when the time is up is for `registry sync`: nothing more is asked for.
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

/** Asks for nothing any more when the time is up: an image that nobody waits for is not read to its end. */
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

function refuse({ code, message }: ApiError, status: number): EndpointReply {
  const refusal = reply(status, { code, message });
  if (code !== Code.UNAUTHENTICATED) return refusal;
  // RFC 9110 §11.6.1.
  return { ...refusal, headers: { ...refusal.headers, "www-authenticate": 'Bearer, Basic realm="gatehouse"' } };
}

function reply(status: number, value: object): EndpointReply {
  return { status, headers: { "content-type": "application/json" }, body: `${JSON.stringify(value)}\n` };
}
