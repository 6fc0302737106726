// The heads of frames, and errors as messages.
import { create, fromBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { type ErrorInfo, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { ApiError, type Code } from "../../aip/errors.ts";
import type { TransportName } from "../../pipeline/call.ts";
import { detailTypes } from "../error-detail-types.ts";

/** The first frame of a connection: the key that the processes of one server share. The other side responds with `ready`. */
export type HelloHead = readonly [key: string];

/** The notices of the writing process besides responses: `ready`, and `drain`, which asks for no more calls. */
export type Notice = readonly ["ready" | "drain"];

/** The names of the headers that methods read. */
export const forwardedHeaders = ["authorization", "traceparent", "user-agent", "idempotency-key", "if-match"] as const;

/** Those headers; `traceparent` is that of the span of the forwarding process. */
export type ForwardedHeaders = Readonly<Record<(typeof forwardedHeaders)[number], string | undefined>>;

/** A call; its message is the request. */
export type CallHead = readonly [
  id: number,
  path: string,
  transport: TransportName,
  requestId: string,
  clientAddress: string,
  headers: ForwardedHeaders,
];

/** A forwarding process's notice that an earlier call ended: with DEADLINE_EXCEEDED, or CANCELLED by its client. */
export type EndHead = readonly ["end", id: number, code: Code];

/** A process wants to write by itself, or has done so: it has a turn from "granted" until it returns it. */
export type TurnHead = readonly ["turn" | "granted" | "return", id: number];

/** A response, with its headers; its message is that of the method. */
export type ResponseHead = readonly [id: number, outcome: "ok", headers: readonly (readonly [string, string])[]];

/** An error; its message is a google.rpc.Status. The cause is for the log. */
export type ErrorHead = readonly [id: number, outcome: "error", cause: LoggedCause | undefined];

/** The form of an error's cause in the log. */
interface LoggedCause {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** Returns an error as a message. */
export function toStatus({ code, message, details }: ApiError): Status {
  return create(StatusSchema, { code, message, details: details.map(({ schema, value }) => anyPack(schema, value)) });
}

/** Returns the cause of an error for the log. */
export function causeOf({ cause }: ApiError): LoggedCause | undefined {
  if (cause === undefined) return undefined;
  if (!(cause instanceof Error)) return { name: "Error", message: String(cause) };
  return { name: cause.name, message: cause.message, stack: cause.stack };
}

/** Reads an error. Its reason and metadata are those of its ErrorInfo. */
export function toError(bytes: Uint8Array, cause: LoggedCause | undefined): ApiError {
  const status = fromBinary(StatusSchema, bytes);
  const details = status.details.map((packed) => {
    const value = anyUnpack(packed, detailTypes);
    const schema = value && detailTypes.getMessage(value.$typeName);
    if (!schema) throw new Error(`${packed.typeUrl} is not a detail of an error`);
    return { schema, value };
  });
  const found = details.find(({ schema }) => schema.typeName === ErrorInfoSchema.typeName);
  const info = found && (found.value as ErrorInfo);
  return new ApiError(status.code as Code, status.message, {
    details,
    ...(info && { reason: info.reason, metadata: info.metadata }),
    ...(cause && { cause: Object.assign(new Error(cause.message), cause) }),
  });
}
