// A client that sends one unary request over HTTP/2, good or bad, and collects every frame of the response.
import type { ClientHttp2Session } from "node:http2";
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { type ErrorInfo, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";

export interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The DATA frames of the body. */
  readonly chunks: readonly Uint8Array[];
}

/** A response. `status` and `message` are those of gRPC; the headers have the trailers as well. */
export interface Answer {
  readonly http: number;
  readonly status: unknown;
  readonly message: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** Sends a POST, with each chunk in a frame of its own. */
export async function send(session: ClientHttp2Session, { path, headers, chunks }: Sent): Promise<Answer> {
  const base = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ...base, ...headers });
  const received: Buffer[] = [];
  let fields: Record<string, unknown> = {};
  for (const event of ["response", "trailers"])
    stream.on(event, (seen) => {
      fields = { ...fields, ...seen };
    });
  stream.on("data", (chunk: Buffer) => received.push(chunk)).on("error", () => {});
  const closed = new Promise((resolve) => stream.once("close", resolve));
  for (const chunk of chunks) {
    stream.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  await closed;
  return {
    http: Number(fields[":status"]),
    status: fields["grpc-status"],
    message: decodeURIComponent(String(fields["grpc-message"] ?? "")),
    headers: fields,
    body: Buffer.concat(received),
  };
}

/** An envelope. */
export function frame(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

export function binary<T extends DescMessage>(schema: T, init: MessageInitShape<T>): Uint8Array {
  return toBinary(schema, create(schema, init));
}

/** The ErrorInfo of a response with an error. */
export function infoOf({ headers }: Answer): ErrorInfo | undefined {
  const bytes = Buffer.from(String(headers["grpc-status-details-bin"] ?? ""), "base64");
  const [info] = fromBinary(StatusSchema, bytes).details.flatMap((any) => anyUnpack(any, ErrorInfoSchema) ?? []);
  return info;
}
