// Decides how to serve a call, by the head of its request.
import type { IncomingHttpHeaders } from "node:http";
import { type ApiError, unimplemented } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ChunkLimits } from "../http/chunk-limits.ts";
import { acceptsCoding } from "../http/content-coding.ts";
import { maxWireBytes } from "../http/message-size.ts";
import type { BodyLimits } from "../http/request-body.ts";
import { type Compression, compressions } from "./compression.ts";
import type { HeaderOf, RequestProtocol } from "./protocol.ts";

/** The limits of a body. */
export type FormLimits = BodyLimits & ChunkLimits;

/** The decisions about serving a call. */
export interface RequestForm<P extends RequestProtocol = RequestProtocol> {
  readonly protocol: P;
  readonly limits: FormLimits;
  /** The deadline in milliseconds, 0 without one; or why there is none. */
  readonly timeout: number | ApiError;
  /** The compression that the head names: `identity`, one of `compressions`, or an unknown one. */
  readonly encoding: string;
  /** The compression of the message; absent without one. */
  readonly compression?: Compression | undefined;
  /** The compression that the response may have. */
  readonly responseCompression?: Compression | undefined;
  /**
   * Whether the body is read before the caller is authenticated: the method then runs in one tick. No stranger makes the server read
   * compressed data, or is asked for a body by `100 Continue`; and a call whose head is wrong needs no body.
   */
  readonly isReadFirst: boolean;
}

/** Finds the form of a request. */
export interface RequestForms<P extends RequestProtocol> {
  /** Returns the form of a request by its headers; undefined if no protocol has its content type. */
  of(headers: IncomingHttpHeaders): RequestForm<P> | undefined;
  /** The content types of all protocols, separated by ", ". */
  readonly contentTypes: string;
}

/** Returns the forms of these protocols. */
export function requestForms<P extends RequestProtocol>(protocols: readonly P[], limits: FormLimits): RequestForms<P> {
  const types = new Map(
    protocols.flatMap((protocol) => {
      const bounded = boundedProtocol(protocol, limits);
      return protocol.contentTypes.map((type) => [type, bounded] as const);
    }),
  );
  return {
    contentTypes: [...types.keys()].join(", "),
    of(headers) {
      const { "content-type": type = "" } = headers;
      const bounded = types.get(type) ?? types.get(plainType(type));
      return bounded && formOf(bounded, (name) => headers[name]?.toString());
    },
  };
}

/** A protocol, and the limits of its bodies. */
interface BoundedProtocol<P extends RequestProtocol> {
  readonly protocol: P;
  readonly plain: FormLimits;
  readonly compressed: FormLimits;
}

function boundedProtocol<P extends RequestProtocol>(protocol: P, limits: FormLimits): BoundedProtocol<P> {
  const { prefixBytes } = protocol;
  const added = maxWireBytes(limits.maxBodyBytes, true) - limits.maxBodyBytes;
  return {
    protocol,
    plain: { ...limits, extraBytes: prefixBytes },
    compressed: { ...limits, extraBytes: prefixBytes + added },
  };
}

/** Returns a media type in lower case and without parameters; an empty text if its charset is not UTF-8. */
function plainType(text: string): string {
  const [type = "", ...parameters] = text.toLowerCase().split(";");
  const isForeign = parameters.some((parameter) => /^\s*charset\s*=(?!\s*"?utf-?8"?\s*$)/.test(parameter));
  return isForeign ? "" : type.trim();
}

function formOf<P extends RequestProtocol>(
  { protocol, plain, compressed }: BoundedProtocol<P>,
  header: HeaderOf,
): RequestForm<P> {
  const timeout = protocol.timeoutOf(header);
  const encoding = header(protocol.encodingHeader) ?? "identity";
  if (encoding === "identity") {
    const isReadFirst = typeof timeout === "number" && header("expect") === undefined;
    return { protocol, limits: plain, timeout, encoding, isReadFirst };
  }
  const compression = compressions.get(encoding);
  const isAccepted = compression && acceptsCoding(header(protocol.acceptHeader) ?? "", encoding);
  const responseCompression = isAccepted ? compression : undefined;
  return { protocol, limits: compressed, timeout, encoding, compression, responseCompression, isReadFirst: false };
}

/** Throws if the deadline is malformed or has passed, or the encoding is unknown. */
export function checkForm({ timeout, encoding, compression, protocol }: RequestForm, call: Call): void {
  if (typeof timeout !== "number") throw timeout;
  if (compression || encoding === "identity") return;
  // gRPC's compression.md: the response lists the supported encodings.
  const supported = [...compressions.keys()];
  call.setResponseHeader(protocol.acceptHeader, supported.join(","));
  throw unimplemented(`unknown compression "${clip(encoding)}": supported are ${supported.join(", ")}`);
}
