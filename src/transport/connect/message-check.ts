// Checks a message before connect-node decodes it: connect-node limits its size, but neither its depth nor its number of values, and
// reports a malformed message as INTERNAL.
import { ConnectError } from "@connectrpc/connect";
import type { Compression, UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { ApiError } from "../../aip/errors.ts";
import { completeError } from "../../pipeline/complete-error.ts";
import type { Method } from "../../pipeline/method.ts";
import { maxWireBytes, messageTooLarge } from "../http/message-size.ts";
import { parseJsonText } from "../json/parse-json.ts";
import { fromConnectError, toConnectError } from "../unary/connect-error.ts";
import {
  compressedFlag,
  compressionUnnamed,
  openEnvelope,
  prefixLength,
  readMessage,
  wrap,
} from "../unary/envelope.ts";
import { fitTrailers } from "../unary/trailer-limit.ts";

/** The limits of a message, and the supported compressions. */
export interface MessageLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonDepth: number;
  readonly compressions: readonly Compression[];
}

/** The form of a body, by the head of its request. */
interface Form {
  readonly isJson: boolean;
  readonly isEnveloped: boolean;
  /** Undefined for none, and for one that connect-node rejects. */
  readonly compression: Compression | undefined;
}

/** Wraps the handler of a unary method: reading a body that is not a valid message throws. */
export function withMessageCheck(handler: UniversalHandler, method: Method, limits: MessageLimits): UniversalHandler {
  const check = (request: UniversalServerRequest) => {
    const form = formOf(request.header, limits);
    const header = form.compression ? uncompressed(request.header, form.isEnveloped) : request.header;
    const body = request.body as AsyncIterable<Uint8Array>;
    return handler({ ...request, header, body: checkBody(body, form, method, limits) });
  };
  return Object.assign(check, handler);
}

function formOf(header: Headers, { compressions }: MessageLimits): Form {
  const type = header.get("content-type") ?? "";
  const isEnveloped = /^application\/grpc\b/i.test(type);
  const encoding = header.get(encodingHeader(isEnveloped));
  return {
    isJson: /^application\/(?:grpc(?:-web)?\+)?json\b/i.test(type),
    isEnveloped,
    compression: compressions.find(({ name }) => name === encoding),
  };
}

function encodingHeader(isEnveloped: boolean): string {
  return isEnveloped ? "grpc-encoding" : "content-encoding";
}

/** Returns the headers without those of the compressed body. */
function uncompressed(header: Headers, isEnveloped: boolean): Headers {
  const rest = new Headers(header);
  for (const name of [encodingHeader(isEnveloped), "content-length"]) rest.delete(name);
  return rest;
}

/** Yields the message uncompressed, once it is complete and valid. */
async function* checkBody(
  body: AsyncIterable<Uint8Array>,
  form: Form,
  method: Method,
  limits: MessageLimits,
): AsyncIterable<Uint8Array> {
  try {
    const bytes = await collect(body, form, limits.maxBodyBytes);
    const message = await decompressMessage(bytes, form, limits.maxBodyBytes);
    if (form.isJson) parseJsonText(message, limits.maxJsonDepth);
    else readMessage(method, message);
    // Uncompressed: connect-node would apply the limit to the compressed form, and decompress it again.
    yield form.isEnveloped ? wrap(0, message) : message;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ConnectError)) throw error;
    const completed = completeError(fromConnectError(error), method.errorDomain);
    throw toConnectError(form.isEnveloped ? fitTrailers(completed) : completed);
  }
}

async function collect(body: AsyncIterable<Uint8Array>, form: Form, maxBytes: number): Promise<Buffer> {
  const most = (form.isEnveloped ? prefixLength : 0) + maxWireBytes(maxBytes, form.compression !== undefined);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw messageTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Takes the message out of its envelope and decompresses it. */
async function decompressMessage(body: Buffer, form: Form, maxBytes: number): Promise<Uint8Array> {
  const { isEnveloped, compression } = form;
  const { flags, bytes } = isEnveloped
    ? openEnvelope(body, maxWireBytes(maxBytes, compression !== undefined))
    : { flags: compressedFlag, bytes: body };
  if (flags === compressedFlag && compression) return await compression.decompress(new Uint8Array(bytes), maxBytes);
  if (flags === compressedFlag && isEnveloped) throw compressionUnnamed();
  if (bytes.length > maxBytes) throw messageTooLarge(maxBytes);
  return bytes;
}
