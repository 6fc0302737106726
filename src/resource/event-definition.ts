// What an event is made of, and how that follows from the change log.
import type { JsonValue } from "@bufbuild/protobuf";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Session } from "../storage/engine/session.ts";

/** A change as the log has it: rows without their secret columns. */
export interface LoggedChange<R = unknown> {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Null for what was created. */
  readonly before: R | null;
  /** Null for what was deleted. */
  readonly after: R | null;
}

/** The changes that one event is about, in their order. */
export type LoggedChanges = readonly [LoggedChange, ...LoggedChange[]];

/** Where an event is in the change log, and whom it concerns. */
export interface EventPlace {
  /** The kind of rows that it is about; what else was changed with them is part of the same event. */
  readonly kind: string;
  /** Whether all changes of the kind by one call are one event; each is one of its own when absent. */
  readonly isBatch?: boolean;
  /** The group that the event is filed under, of the uid of the first change: it and all above are told. */
  group(uid: string): string;
  /** What the event says that it is about, of the uids of its changes. */
  subject(uids: readonly string[]): string;
  /** The identity provider that the event concerns, of the uid of the first change. Absent where there is none. */
  readonly identityProvider?: (uid: string) => string;
}

/** One kind of event. */
export interface EventDefinition extends EventPlace {
  /** What the log says of how it came about: the path of a method, or of an endpoint. */
  readonly cause: string;
  readonly type: string;
  /** A URI reference to where it comes from; `baseUrl` is the address of this server. */
  source(baseUrl: string): string;
  /** The full name of the message that the body is; absent where it is none. */
  readonly bodyType?: string;
  /** Without secrets; undefined to leave it out. */
  body(changes: LoggedChanges, session: Session): MaybePromise<JsonValue | undefined>;
}
