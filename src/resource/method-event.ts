// The event of a method. The proto states its type; this file builds its other parts from the change log.
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  getOption,
  type Message,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { events as eventOption } from "../../gen/chainguard/annotations/events_pb.ts";
import { http } from "../../gen/google/api/annotations_pb.ts";
import { type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { parentOf } from "../model/uid.ts";
import { methodPath } from "../pipeline/compose.ts";
import type { CollectionTables } from "../storage/collection/collection.ts";
import type { Session } from "../storage/engine/session.ts";
import type { EventDefinition, EventPlace, LoggedChanges } from "./event-definition.ts";

/** The event of one method. */
export interface MethodEvent extends EventPlace {
  readonly method: DescMethodUnary;
  /** The method of whose type and form the event is: subscribers know it for the same change. That of the event itself if absent. */
  readonly like?: DescMethodUnary;
  /**
   * Returns the response of the method, or its request if the response is empty, without secrets. Undefined for an event without
   * a body.
   */
  body(changes: LoggedChanges, session: Session): MaybePromise<Message | undefined>;
}

/** Completes the event of a method by what the proto says about the method. */
export function toEventDefinition({ method, like = method, body, ...place }: MethodEvent): EventDefinition {
  const schema = returnsEmpty(like) ? like.input : like.output;
  return {
    ...place,
    cause: methodPath(method),
    type: getOption(like, eventOption).type,
    source: (baseUrl) => baseUrl + routeOf(like),
    bodyType: schema.typeName,
    body: (changes, session) => mapMaybe(body(changes, session), (message) => message && toJson(schema, message)),
  };
}

/** Returns the REST path of a method, up to its first variable. */
function routeOf(method: DescMethodUnary): string {
  const { value } = getOption(method, http).pattern;
  return typeof value === "string" ? value.replace(/\/?\{.*$/, "") : "";
}

/** The rules to build the events of a resource from its changes. */
export interface ResourceEvents<D extends DescMessage, R> {
  readonly collection: Pick<CollectionTables, "kind">;
  readonly schema: D;
  /** Converts a row to the message that events show. `time` is that of the change, in milliseconds since the epoch. */
  message(row: R, session: Session, time: number): MaybePromise<MessageInitShape<D>>;
  /** Returns the group of a row by its uid; its parent if absent. */
  readonly group?: (uid: string) => string;
  readonly identityProvider?: ((uid: string) => string) | undefined;
}

/** Returns the events of methods that return or delete a resource. */
export function resourceEvents<D extends DescMessage, R>(
  methods: readonly DescMethodUnary[],
  { collection, schema, message, group = parentOf, identityProvider }: ResourceEvents<D, R>,
): MethodEvent[] {
  return methods.map((method) => ({
    method,
    kind: collection.kind,
    group,
    subject: ([uid]) => uid!,
    identityProvider,
    body: ([{ uid, time, after }], session) =>
      returnsEmpty(method)
        ? requestOf(method, uid)
        : mapMaybe(message(after as R, session, time), (shown) => create(schema, shown)),
  }));
}

/** Whether a method returns an empty message. Its event then shows the request. */
export function returnsEmpty({ output }: DescMethodUnary): boolean {
  return output.typeName === EmptySchema.typeName;
}

/** Builds the request of a method that has a uid as its only field. */
function requestOf({ input }: DescMethodUnary, uid: string): Message {
  return create(input, { uid } as MessageInitShape<DescMessage>);
}
