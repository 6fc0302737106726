// Checks the head of a call. connect-node would reject the same faults, but without details, and while it waits for the body.

import { ApiError, Code, unimplemented } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";
import type { Call } from "../../pipeline/call.ts";
import { maxWireBytes, messageTooLarge } from "../http/message-size.ts";
import { prefixLength } from "../unary/envelope.ts";

/** The supported encodings of messages, besides identity. */
const compressions = ["gzip", "br"];

/** Throws an ApiError if the head of a call has a malformed or past deadline, an unknown encoding, or too large a length. */
export function checkCallHead(call: Call, maxBodyBytes: number): void {
  checkDeadline(call);
  checkCompression(call);
  checkLength(call, maxBodyBytes, call.transport !== "connect");
}

/**
 * Throws if the announced body is larger than a message may be. Enveloped messages have a prefix.
 *
 * connect-node would send its error in several frames. A client that stops sending between them has sent less than it announced, and
 * nghttp2 resets its stream for that (RFC 9113 §8.1.1).
 */
export function checkLength(call: Call, maxBytes: number, isEnveloped: boolean): void {
  const prefix = isEnveloped ? prefixLength : 0;
  const most = prefix + maxWireBytes(maxBytes, encodingOf(call) !== "identity");
  if (Number(call.header("content-length") ?? 0) > most) throw messageTooLarge(maxBytes);
}

function checkDeadline({ transport, header }: Call): void {
  const [name, form] = transport === "connect" ? connectTimeout : grpcTimeout;
  const text = header(name);
  if (text === undefined) return;
  if (!form.test(text)) throw new ApiError(Code.INVALID_ARGUMENT, `protocol error: ${name} is ${clip(text)}`);
  if (Number.parseInt(text, 10) === 0) throw new ApiError(Code.DEADLINE_EXCEEDED, "the deadline has passed");
}

const connectTimeout = ["connect-timeout-ms", /^\d{1,10}$/] as const;
const grpcTimeout = ["grpc-timeout", /^\d{1,8}[HMSmun]$/] as const;

function checkCompression(call: Call): void {
  const isConnect = call.transport === "connect";
  const encoding = encodingOf(call);
  if (encoding === "identity" || compressions.includes(encoding)) return;
  // gRPC's compression.md: the response lists the supported encodings.
  call.setResponseHeader(isConnect ? "accept-encoding" : "grpc-accept-encoding", compressions.join(","));
  throw unimplemented(`unknown compression "${clip(encoding)}": supported are ${compressions.join(", ")}`);
}

function encodingOf({ transport, header }: Call): string {
  return header(transport === "connect" ? "content-encoding" : "grpc-encoding") ?? "identity";
}
