// The bodies of unary requests, as load generators send them.
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";

/** Returns a message as gRPC and gRPC-web frame it: a byte of flags, four of length, the message. */
export function frame(bytes: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + bytes.length);
  framed.writeUInt32BE(bytes.length, 1);
  framed.set(bytes, 5);
  return framed;
}

/** Returns a message of this type, framed. */
export function frameOf<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Buffer {
  return frame(toBinary(schema, create(schema, init)));
}

/** The headers of a gRPC request besides credentials. */
export const grpcHeaders = { "content-type": "application/grpc", te: "trailers" } as const;
