// gRPC-web: the trailers are the last envelope of the body, so that browsers can read them.
import { toBinary } from "@bufbuild/protobuf";
import { readEnvelope, writeEnvelopes } from "./envelope.ts";
import { grpcTimeout, statusTrailers } from "./grpc.ts";
import type { Protocol } from "./protocol.ts";

const trailerFlag = 0x80;
const headers = { "content-type": "application/grpc-web+proto" };

/** Unary gRPC-web with messages in protobuf. */
export const grpcWeb: Protocol = {
  door: "grpc-web",
  encodingHeader: "grpc-encoding",
  timeoutOf: grpcTimeout,
  parse: readEnvelope,
  success({ descriptor }, message) {
    const bytes = toBinary(descriptor.output, message);
    const end = { flags: trailerFlag, bytes: trailerText({ "grpc-status": "0" }) };
    return { status: 200, headers, body: writeEnvelopes({ flags: 0, bytes }, end) };
  },
  failure(error) {
    const end = { flags: trailerFlag, bytes: trailerText(statusTrailers(error)) };
    return { status: 200, headers, body: writeEnvelopes(end) };
  },
};

function trailerText(trailers: Readonly<Record<string, string>>): Buffer {
  return Buffer.from(
    Object.entries(trailers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(""),
  );
}
