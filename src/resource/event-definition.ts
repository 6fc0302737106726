// Defines events, which are built from the change log.
import type { JsonValue } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Session } from "../storage/engine/session.ts";

/** An entry of the change log: rows without their secret columns. */
export interface LoggedChange<R = unknown> {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Null if the row was created. */
  readonly before: R | null;
  /** Null if the row was deleted. */
  readonly after: R | null;
}

/** The changes that one event reports, oldest first. */
export type LoggedChanges = readonly [LoggedChange, ...LoggedChange[]];

/** The changes that an event reports, and its receivers. */
export interface EventPlace {
  /** The kind of the changed rows. Changes of other kinds by the same call belong to the same event. */
  readonly kind: string;
  /** Whether all changes of the kind by one call are one event; each is an event of its own if absent. */
  readonly isBatch?: boolean;
  /** Returns the group of the event, by the uid of the first change. Subscribers of it and of its ancestors receive the event. */
  group(uid: string): string;
  /** Returns the `subject` of the event, by the uids of its changes. */
  subject(uids: readonly string[]): string;
  /** Returns the identity provider of the event, by the uid of the first change. Absent if it concerns none. */
  readonly identityProvider?: ((uid: string) => string) | undefined;
}

/** One kind of event. */
export interface EventDefinition extends EventPlace {
  /** The path of the method or endpoint that made the changes, as logged. */
  readonly cause: string;
  readonly type: string;
  /** Returns the `source` of the event, a URI reference; `baseUrl` is the address of this server. */
  source(baseUrl: string): string;
  /** The full name of the body's message type; absent if the body is not a message. */
  readonly bodyType?: string;
  /** Returns the body without secrets, or undefined for an event without a body. */
  body(changes: LoggedChanges, session: Session): MaybePromise<JsonValue | undefined>;
}
