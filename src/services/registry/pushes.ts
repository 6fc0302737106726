// Pushes into the container registry: their entries in the change log, and their events.

import { parentOf } from "../../model/uid.ts";
import type { EventDefinition } from "../../resource/event-definition.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Transaction } from "../../storage/engine/session.ts";
import type { RepoRow } from "../../storage/registry/rows.ts";

/** The path to which registries send notifications. The change log records it as the method. */
export const notificationsPath = "/registry/notifications";

/** The kind of pushes in the change log. A push is a change of its own besides that of the tag, with the uid of the repo. */
export const pushKind = "registry_pushes";

/** A push of a manifest. */
export interface Push {
  /** As the registry has it. */
  readonly repository: string;
  /** Empty if it was pushed by digest. */
  readonly tag: string;
  /** The previous digest of the tag; empty if there was none. */
  readonly previousDigest: string;
  readonly digest: string;
  /** By the clock of the registry, or ours if it does not send it; in milliseconds since the epoch. */
  readonly time: number;
  /** The client that pushed; both are empty if the registry does not send them. */
  readonly address: string;
  readonly userAgent: string;
}

/** A push in the change log. */
interface LoggedPush extends Push {
  /** The name of the repo. */
  readonly name: string;
}

/** Logs a push into a repo. */
export function logPush(tx: Transaction, { uid, parent, name }: RepoRow, push: Push): void {
  const after: LoggedPush = { ...push, name };
  tx.logChange({ kind: pushKind, uid, groupUid: parent, before: null, after });
}

/** Returns the event of a push, which no method causes (published contract). */
export function pushEvent({ settings }: Pick<ServiceContext, "settings">): EventDefinition {
  return {
    cause: notificationsPath,
    kind: pushKind,
    type: "dev.chainguard.registry.push.v1",
    source: () => referenceTo(settings.registryService),
    // Published contract: only events of tags belong to the organization.
    group: parentOf,
    subject: ([uid]) => uid!,
    body: ([{ uid, after }]) => bodyOf(uid, after as LoggedPush),
  };
}

/** RFC 3986 §4.2: a first segment with a colon is not a relative path, so a host with a port becomes a network path. */
function referenceTo(host: string): string {
  return /^[^/]*:/.test(host) ? `//${host}` : host;
}

function bodyOf(uid: string, { repository, name, tag, previousDigest, digest, time, address, userAgent }: LoggedPush) {
  return {
    repository,
    repo_id: uid,
    display_name: name,
    ...(tag !== "" && { tag }),
    ...(previousDigest !== "" && { tag_previous_digest: previousDigest }),
    digest,
    type: "manifest",
    when: dateTimeOf(time),
    // The location of clients is unknown.
    location: "",
    remote_address: address,
    user_agent: userAgent,
  };
}

/** Formats a time in UTC with microseconds, without a zone. */
function dateTimeOf(time: number): string {
  return new Date(time).toISOString().replace("Z", "000");
}
