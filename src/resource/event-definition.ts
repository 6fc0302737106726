// What event a method causes. The type of an event is said in the proto; here is how its parts follow from the change log.
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { type Soon, whenThere } from "../soon.ts";
import type { CollectionTables } from "../storage/collection.ts";
import type { Session } from "../storage/session.ts";
import { parentOf } from "../uid.ts";

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

/** The event of one method. */
export interface EventDefinition {
  readonly method: DescMethodUnary;
  /** The kind of rows that it is about; what else the method changes is part of the same event. */
  readonly kind: string;
  /** Whether all changes of the kind by one call are one event; each is one of its own when absent. */
  readonly isBatch?: boolean;
  /** The group that the event is filed under, of the uid of the first change: it and all above are told. */
  group(uid: string): string;
  /** What the event says that it is about, of the uids of its changes. */
  subject(uids: readonly string[]): string;
  /** The identity provider that the event concerns, of the uid of the first change. Absent where there is none. */
  readonly identityProvider?: (uid: string) => string;
  /** The reply of the method, or its request where the reply is empty, without secrets; undefined to leave it out. */
  body(changes: LoggedChanges, session: Session): Soon<Message | undefined>;
}

/** How the events of a resource follow from its changes. */
export interface ResourceEvents<D extends DescMessage, R> {
  readonly collection: Pick<CollectionTables, "kind">;
  readonly schema: D;
  /** As events show a row. */
  message(row: R, session: Session, time: number): Soon<MessageInitShape<D>>;
  /** The uid above when absent. */
  readonly group?: (uid: string) => string;
  readonly identityProvider?: (uid: string) => string;
}

/** The events of methods that answer a resource, or that delete one. */
export function resourceEvents<D extends DescMessage, R>(
  methods: readonly DescMethodUnary[],
  { collection, schema, message, group = parentOf, identityProvider }: ResourceEvents<D, R>,
): EventDefinition[] {
  return methods.map((method) => ({
    method,
    kind: collection.kind,
    group,
    subject: ([uid]) => uid!,
    ...(identityProvider && { identityProvider }),
    body: ([{ uid, time, after }], session) =>
      answersNothing(method)
        ? requestOf(method, uid)
        : whenThere(message(after as R, session, time), (shown) => create(schema, shown)),
  }));
}

/** Whether the event of a method shows its request. */
export function answersNothing({ output }: DescMethodUnary): boolean {
  return output.typeName === EmptySchema.typeName;
}

/** The request of a method that names a resource by its uid, and nothing else. */
function requestOf({ input }: DescMethodUnary, uid: string): Message {
  return create(input, { uid } as MessageInitShape<DescMessage>);
}
