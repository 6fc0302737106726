// Methods of Gatehouse have no trailers of their own; those of the suite do. They are added here to what goes over the wire.
import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { gunzipSync } from "node:zlib";
import { compressedFlag, prefixLength, wrap } from "../../src/transport/unary/envelope.ts";
import type { Exchange } from "./unary.ts";

const trailerFlag = 0x80;
/** The flag of the last message of a Connect stream, which has the trailers in its JSON. */
const endOfStreamFlag = 2;

/** Adds the trailers of a call to what is sent on its stream. */
export function addToStream(stream: ServerHttp2Stream, { trailers }: Exchange): void {
  const { respond, sendTrailers } = stream;
  // gRPC-web has its trailers in the body.
  stream.sendTrailers = (fields) =>
    sendTrailers.call(stream, "grpc-status" in fields ? { ...fields, ...Object.fromEntries(trailers) } : fields);
  // Without a message gRPC's status is in the headers: "Trailers-Only".
  stream.respond = (headers, options) => {
    const isStatus = options?.endStream === true && Array.isArray(headers) && headers.includes("grpc-status");
    if (isStatus) headers.push(...trailers.flat());
    respond.call(stream, headers, options);
  };
  addToBody(stream, trailers);
}

/** Adds the trailers of a call of gRPC-web over HTTP/1, whose body then is longer than its head was to say. */
export function addToResponse(response: ServerResponse, { trailers }: Exchange): void {
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const headers = rest.at(-1);
    const place = Array.isArray(headers) && trailers.length > 0 ? headers.indexOf("content-length") : -1;
    if (place >= 0) (headers as unknown[]).splice(place, 2);
    return Reflect.apply(writeHead, response, [status, ...rest]);
  };
  addToBody(response, trailers);
}

function addToBody(target: ServerHttp2Stream | ServerResponse, trailers: Exchange["trailers"]): void {
  for (const name of ["write", "end"] as const) {
    const send = target[name] as (...args: never[]) => unknown;
    Object.assign(target, {
      [name]: (chunk: unknown, ...rest: unknown[]) => Reflect.apply(send, target, [extended(chunk, trailers), ...rest]),
    });
  }
}

/** Returns the same chunk, with these trailers in its envelope of trailers if it has one. */
function extended(chunk: unknown, trailers: Exchange["trailers"]): unknown {
  if (trailers.length === 0 || !(chunk instanceof Uint8Array)) return chunk;
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let at = 0; at + prefixLength <= bytes.length; at += prefixLength + bytes.readUInt32BE(at + 1)) {
    const flags = bytes[at]!;
    if ((flags & endOfStreamFlag) !== 0) return withMetadata(bytes.subarray(at + prefixLength), trailers);
    if ((flags & trailerFlag) === 0) continue;
    const more = trailers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const sent = bytes.subarray(at + prefixLength);
    const text = Buffer.concat([(flags & compressedFlag) === 0 ? sent : gunzipSync(sent), Buffer.from(more)]);
    return Buffer.concat([bytes.subarray(0, at), wrap(trailerFlag, text)]);
  }
  return chunk;
}

function withMetadata(sent: Buffer, trailers: Exchange["trailers"]): Buffer {
  const metadata = Object.fromEntries(trailers.map(([name, value]) => [name, value.split(", ")]));
  return wrap(endOfStreamFlag, Buffer.from(JSON.stringify({ ...JSON.parse(sent.toString()), metadata })));
}
