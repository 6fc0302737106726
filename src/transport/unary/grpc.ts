// gRPC over HTTP/2: the trailers contain the status.
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { toApiError } from "../../aip/errors.ts";
import { prefixLength, readEnvelope, writeEnvelope } from "./envelope.ts";
import type { HeaderOf, Protocol } from "./protocol.ts";
import { fitTrailers } from "./trailer-limit.ts";

const headers = { "content-type": "application/grpc+proto" };
const okTrailers = Object.freeze({ "grpc-status": "0" });

/** Unary gRPC with messages in protobuf. */
export const grpc: Protocol = {
  transport: "grpc",
  encodingHeader: "grpc-encoding",
  prefixBytes: prefixLength,
  timeoutOf: grpcTimeout,
  parse: readEnvelope,
  success: (method, message) => ({
    status: 200,
    headers,
    body: writeEnvelope(method, message),
    trailers: okTrailers,
  }),
  failure: (error) => ({ status: 200, headers, trailers: statusTrailers(error) }),
};

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** Returns the deadline of a gRPC or gRPC-web request: see `Protocol.timeoutOf`. connect-node responds to malformed and past ones. */
export function grpcTimeout(header: HeaderOf): number | undefined {
  const text = header("grpc-timeout");
  if (text === undefined) return 0;
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  const units = Number(match?.[1]);
  return units > 0 ? Math.max(1, units * unitMs[match![2]!]!) : undefined;
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
