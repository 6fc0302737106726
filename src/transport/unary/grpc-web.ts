// gRPC-web: trailers are the last envelope of the body, because browsers cannot read HTTP trailers.
import type { Codec } from "./codec.ts";
import { compressedEnvelope, wrap } from "./envelope.ts";
import { grpcRequests, statusTrailers, typesOf } from "./grpc.ts";
import type { Protocol, StreamProtocol } from "./protocol.ts";

const trailerFlag = 0x80;
const okTrailers = trailerEnvelope({ "grpc-status": "0" });

/** Makes unary gRPC-web with messages in a codec. */
export function grpcWeb(codec: Codec): Protocol {
  const headers = { "content-type": `application/grpc-web+${codec.name}` };
  return {
    ...grpcRequests,
    transport: "grpc-web",
    contentTypes: typesOf("application/grpc-web", codec),
    codec,
    success(method, message, compression) {
      if (!compression) return { status: 200, headers, body: codec.envelop(method, message, okTrailers) };
      const named = { ...headers, "grpc-encoding": compression.name };
      return compressedEnvelope(codec.encode(method, message), compression).then((body) => {
        return { status: 200, headers: named, body: Buffer.concat([body, okTrailers]) };
      });
    },
    failure: (error) => ({ status: 200, headers, body: trailerEnvelope(statusTrailers(error)) }),
  };
}

/** Makes gRPC-web with streams of messages in a codec. */
export function grpcWebStream(codec: Codec): StreamProtocol {
  return {
    ...grpcRequests,
    transport: "grpc-web",
    contentTypes: typesOf("application/grpc-web", codec),
    codec,
    headers: { "content-type": `application/grpc-web+${codec.name}` },
    end: (error) => ({ last: error ? trailerEnvelope(statusTrailers(error)) : okTrailers }),
  };
}

function trailerEnvelope(trailers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
  return wrap(trailerFlag, Buffer.from(lines.join("")));
}
