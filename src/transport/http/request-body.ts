import { Code, invalidField } from "../../aip/errors.ts";
import { firstSlice } from "../../base/slices.ts";
import { clientDisconnected } from "../../pipeline/call-lifetime.ts";
import type { RequestHead } from "./head.ts";
import { HttpError } from "./http-error.ts";
import { type HttpRequest, readHeader } from "./message.ts";

/** The size and time limits of a body. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  /** Bytes besides the message, which `maxBodyBytes` does not count: its prefix, and what compression adds. 0 when absent. */
  readonly extraBytes?: number;
}

/** Reads the body of a request. Rejects with 413 if it is too large, with 408 if it is late, and with CANCELLED if the client disconnects. */
export function readBody(req: HttpRequest, limits: BodyLimits): Promise<Buffer> {
  const { maxBodyBytes, bodyTimeoutMs, extraBytes = 0 } = limits;
  const most = maxBodyBytes + extraBytes;
  if (announcedLength(req) > most) return Promise.reject(tooLarge(maxBodyBytes));
  const body = newBuffer();
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      if (body.size() + chunk.length <= most) body.append(chunk);
      else settle(() => reject(tooLarge(maxBodyBytes)));
    };
    // An aborted HTTP/2 stream also emits "end".
    const onEnd = () => settle(() => (req.aborted ? reject(clientDisconnected()) : resolve(inTurn(body.bytes()))));
    const onGone = () => settle(() => reject(clientDisconnected()));
    // After an early response nobody waits for the body: the timer must not keep the process alive.
    const timer = setTimeout(() => settle(() => reject(tooLate())), bodyTimeoutMs).unref();
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      req.off("data", onData).off("end", onEnd).off("close", onGone).off("error", onGone).pause();
      finish();
    };
    req.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
    if (req.destroyed) onGone();
  });
}

/** The size of a body that takes some milliseconds to parse, in bytes. */
const largeBytes = 64 * 1024;

/** Returns a body that was read; a large one in its turn, because others must not wait for the parsing of several. */
export function inTurn(body: Buffer): Buffer | Promise<Buffer> {
  if (body.length < largeBytes) return body;
  return firstSlice()?.then(() => body) ?? body;
}

/** Decodes UTF-8, and keeps a byte order mark as U+FEFF. Throws INVALID_ARGUMENT for `field`. */
export function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidField(field, "must be UTF-8");
  }
}

const formType = "application/x-www-form-urlencoded";

/** Throws unless the body is JSON in UTF-8. A browser sends JSON to another origin only after a preflight request. */
export function checkJsonType(head: RequestHead): void {
  checkBodyType(head, ["application/json"]);
}

/** Throws unless the body is a form in UTF-8. */
export function checkFormType(head: RequestHead): void {
  checkBodyType(head, [formType], `must be ${formType}, or the body empty`);
}

/** Throws a 415 that names the media types, unless the body has one of them, in UTF-8. */
export function checkBodyType(
  head: RequestHead,
  types: readonly string[],
  rule: string = `must be ${types.join(" or ")}`,
): void {
  const [name = "", ...parameters] = (head.header("content-type") ?? "").toLowerCase().split(";");
  // RFC 2045 §5: unknown parameters are ignored. `charset` is known.
  const isForeign = parameters.some((text) => /^\s*charset\s*=(?!\s*(?:utf-8|"utf-8")\s*$)/.test(text));
  if (!types.includes(name.trim()) || isForeign) throw unsupported("content-type", rule, { accept: types.join(", ") });
}

/** Throws a 415 if the body has a content coding: compressed bodies are not accepted. */
export function checkBodyCoding(head: RequestHead): void {
  const coding = head.header("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return;
  throw unsupported("content-encoding", "must be identity", { "accept-encoding": "identity" });
}

/** RFC 9110 §15.5.16: a 415 names what is accepted. */
function unsupported(field: string, rule: string, headers: Readonly<Record<string, string>>): HttpError {
  const { code, message, details } = invalidField(field, rule);
  return new HttpError(415, code, message, { details, headers });
}

function announcedLength(req: HttpRequest): number {
  return Number(readHeader(req, "content-length") ?? 0);
}

function tooLarge(maxBytes: number): HttpError {
  const message = `Resource exhausted: the body must not be larger than ${maxBytes} bytes`;
  return new HttpError(413, Code.RESOURCE_EXHAUSTED, message);
}

function tooLate(): HttpError {
  return new HttpError(408, Code.DEADLINE_EXCEEDED, "Deadline exceeded: the body did not arrive in time");
}

/** Grows by doubling: a body in many tiny chunks takes no more memory than its bytes. */
function newBuffer() {
  let buffer = Buffer.alloc(0);
  let size = 0;
  return {
    size: () => size,
    bytes: () => buffer.subarray(0, size),
    append(chunk: Buffer) {
      if (size + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, size + chunk.length));
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      chunk.copy(buffer, size);
      size += chunk.length;
    },
  };
}
