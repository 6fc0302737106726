// gRPC over HTTP/2: the trailers contain the status.
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { toApiError } from "../../aip/errors.ts";
import type { Codec } from "./codec.ts";
import { compressedEnvelope, openEnvelope, prefixLength } from "./envelope.ts";
import type { Protocol, RequestProtocol, StreamProtocol } from "./protocol.ts";
import { grpcTimeout } from "./timeout.ts";
import { fitTrailers } from "./trailer-limit.ts";

/** The trailers of a call that succeeded. */
export const okTrailers = Object.freeze({ "grpc-status": "0" });

/** The members that gRPC and gRPC-web share. */
export const grpcRequests = {
  encodingHeader: "grpc-encoding",
  acceptHeader: "grpc-accept-encoding",
  prefixBytes: prefixLength,
  timeoutOf: grpcTimeout,
  open: openEnvelope,
} satisfies Partial<RequestProtocol>;

/** Makes unary gRPC with messages in a codec. */
export function grpc(codec: Codec): Protocol {
  const headers = { "content-type": `application/grpc+${codec.name}` };
  return {
    ...grpcRequests,
    transport: "grpc",
    contentTypes: typesOf("application/grpc", codec),
    codec,
    success(method, message, compression) {
      if (!compression) return { status: 200, headers, body: codec.envelop(method, message), trailers: okTrailers };
      const named = { ...headers, "grpc-encoding": compression.name };
      return compressedEnvelope(codec.encode(method, message), compression).then((body) => {
        return { status: 200, headers: named, body, trailers: okTrailers };
      });
    },
    failure: (error) => ({ status: 200, headers, trailers: statusTrailers(error) }),
  };
}

/** Makes gRPC with streams of messages in a codec. */
export function grpcStream(codec: Codec): StreamProtocol {
  return {
    ...grpcRequests,
    transport: "grpc",
    contentTypes: typesOf("application/grpc", codec),
    codec,
    headers: { "content-type": `application/grpc+${codec.name}` },
    end: (error) => ({ trailers: error ? statusTrailers(error) : okTrailers }),
  };
}

/** Returns the content types of a codec: a type without a codec means protobuf. */
export function typesOf(type: string, { name }: Codec): readonly string[] {
  return name === "proto" ? [type, `${type}+proto`] : [`${type}+${name}`];
}

/** Returns the trailers of an error, with as many of its details as clients accept. */
export function statusTrailers(error: unknown): Record<string, string> {
  const { code, message, details: fitting } = fitTrailers(toApiError(error));
  const trailers: Record<string, string> = { "grpc-status": String(code), "grpc-message": percentEncode(message) };
  if (fitting.length > 0) {
    const details = fitting.map(({ schema, value }) => anyPack(schema, value));
    const status = toBinary(StatusSchema, create(StatusSchema, { code, message, details }));
    trailers["grpc-status-details-bin"] = Buffer.from(status).toString("base64").replace(/=+$/, "");
  }
  return trailers;
}

/** gRPC over HTTP/2, "Responses": only `%` and characters other than printable ASCII are escaped. */
function percentEncode(message: string): string {
  return message.replace(/[^\x20-\x24\x26-\x7e]+/gu, (part) => {
    return Buffer.from(part).reduce((text, byte) => `${text}%${byte.toString(16).toUpperCase().padStart(2, "0")}`, "");
  });
}
