// What event a method causes. Its type is said in the proto; here is how its parts follow from the change log.
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
  /** The reply of the method, or its request where the reply is empty, without secrets; undefined to leave it out. */
  body(changes: LoggedChanges, session: Session): MaybePromise<Message | undefined>;
}

/** The definition of the event of a method. */
export function toEventDefinition({ method, body, ...place }: MethodEvent): EventDefinition {
  const schema = returnsEmpty(method) ? method.input : method.output;
  return {
    ...place,
    cause: methodPath(method),
    type: getOption(method, eventOption).type,
    source: (baseUrl) => baseUrl + routeOf(method),
    bodyType: schema.typeName,
    body: (changes, session) => mapMaybe(body(changes, session), (message) => message && toJson(schema, message)),
  };
}

/** The path of a method in REST, up to its first variable. */
function routeOf(method: DescMethodUnary): string {
  const { value } = getOption(method, http).pattern;
  return typeof value === "string" ? value.replace(/\/?\{.*$/, "") : "";
}

/** How the events of a resource follow from its changes. */
export interface ResourceEvents<D extends DescMessage, R> {
  readonly collection: Pick<CollectionTables, "kind">;
  readonly schema: D;
  /** As events show a row. */
  message(row: R, session: Session, time: number): MaybePromise<MessageInitShape<D>>;
  /** The uid above when absent. */
  readonly group?: (uid: string) => string;
  readonly identityProvider?: (uid: string) => string;
}

/** The events of methods that answer a resource, or that delete one. */
export function resourceEvents<D extends DescMessage, R>(
  methods: readonly DescMethodUnary[],
  { collection, schema, message, group = parentOf, identityProvider }: ResourceEvents<D, R>,
): MethodEvent[] {
  return methods.map((method) => ({
    method,
    kind: collection.kind,
    group,
    subject: ([uid]) => uid!,
    ...(identityProvider && { identityProvider }),
    body: ([{ uid, time, after }], session) =>
      returnsEmpty(method)
        ? requestOf(method, uid)
        : mapMaybe(message(after as R, session, time), (shown) => create(schema, shown)),
  }));
}

/** Whether the event of a method shows its request. */
export function returnsEmpty({ output }: DescMethodUnary): boolean {
  return output.typeName === EmptySchema.typeName;
}

/** The request of a method that names a resource by its uid, and nothing else. */
function requestOf({ input }: DescMethodUnary, uid: string): Message {
  return create(input, { uid } as MessageInitShape<DescMessage>);
}
