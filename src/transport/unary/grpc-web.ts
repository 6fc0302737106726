// gRPC-web: trailers are the last envelope of the body, because browsers cannot read HTTP trailers.
import { prefixLength, readEnvelope, wrap, writeEnvelope } from "./envelope.ts";
import { grpcTimeout, statusTrailers } from "./grpc.ts";
import type { Protocol } from "./protocol.ts";

const trailerFlag = 0x80;
const okTrailers = trailerEnvelope({ "grpc-status": "0" });
const headers = { "content-type": "application/grpc-web+proto" };

/** Unary gRPC-web with messages in protobuf. */
export const grpcWeb: Protocol = {
  transport: "grpc-web",
  encodingHeader: "grpc-encoding",
  prefixBytes: prefixLength,
  timeoutOf: grpcTimeout,
  parse: readEnvelope,
  success: (method, message) => ({ status: 200, headers, body: writeEnvelope(method, message, okTrailers) }),
  failure: (error) => ({ status: 200, headers, body: trailerEnvelope(statusTrailers(error)) }),
};

function trailerEnvelope(trailers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
  return wrap(trailerFlag, Buffer.from(lines.join("")));
}
