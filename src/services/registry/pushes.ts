// Pushes into the container registry: what the change log has of one, and the event that tells of it.

import { parentOf } from "../../model/uid.ts";
import type { EventDefinition } from "../../resource/event-definition.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import type { RepoRow } from "../../storage/registry/rows.ts";

/** Where registries tell of what happens in them: what the change log has in the place of a method. */
export const notificationsPath = "/registry/notifications";

/** What the change log calls pushes. Each is a change of its own, beside that of the tag, with the uid of the repo. */
const pushKind = "registry_pushes";

/** A push of a manifest. */
export interface Push {
  /** As the registry has it. */
  readonly repository: string;
  /** Empty where it was pushed by its digest alone. */
  readonly tag: string;
  /** The digest that the tag had before; empty where there was none. */
  readonly previousDigest: string;
  readonly digest: string;
  /** When, by the registry's clock, in milliseconds since the epoch; undefined when it does not say. */
  readonly time: number | undefined;
  /** Of the client who pushed; both empty where the registry does not say. */
  readonly address: string;
  readonly userAgent: string;
}

/** A push as the change log has it. */
interface LoggedPush extends Push {
  /** What the repo is called. */
  readonly name: string;
  readonly time: number;
}

/** Has a push into a repo appended to the change log. */
export function logPush(tx: Transaction, { uid, parent, name }: RepoRow, push: Push): void {
  const after: LoggedPush = { ...push, name, time: timeWithin(push.time, tx.context.time) };
  tx.logChange({ kind: pushKind, uid, groupUid: parent, before: null, after });
}

/** A clock that is ahead counts no further than to now, and a time from before the epoch is that of no clock. */
function timeWithin(told: number | undefined, now: number): number {
  return told === undefined || told < 0 ? now : Math.min(told, now);
}

/** The event of a push, which the published clients know beside those of methods. */
export function pushEvent({ settings }: Pick<ServiceContext, "settings">): EventDefinition {
  return {
    cause: notificationsPath,
    kind: pushKind,
    type: "dev.chainguard.registry.push.v1",
    source: () => referenceTo(settings.registryService),
    // Of tags alone the published contract says that they are filed under the organization.
    group: parentOf,
    subject: ([uid]) => uid!,
    body: ([{ uid, after }]) => bodyOf(uid, after as LoggedPush),
  };
}

/** RFC 3986 §4.2: what begins with a segment that has a colon is no relative path; with a port it is a network path. */
function referenceTo(host: string): string {
  return /^[^/]*:/.test(host) ? `//${host}` : host;
}

function bodyOf(uid: string, { repository, name, tag, previousDigest, digest, time, address, userAgent }: LoggedPush) {
  return {
    ...{ repository, repo_id: uid, display_name: name },
    ...(tag !== "" && { tag }),
    ...(previousDigest !== "" && { tag_previous_digest: previousDigest }),
    ...{ digest, type: "manifest", when: dateTimeOf(time) },
    // Nobody knows where clients are.
    ...{ location: "", remote_address: address, user_agent: userAgent },
  };
}

/** In UTC, without a zone, in microseconds. */
function dateTimeOf(time: number): string {
  return new Date(time).toISOString().replace("Z", "000");
}
