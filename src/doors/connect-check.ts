// Looks at a message before connect-node decodes it, which knows how long one may be, and nothing of how deep it is or how much it
// holds; what is no message it would call a mistake of ours.
import { ConnectError } from "@connectrpc/connect";
import type { Compression, UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { ApiError, resourceExhausted } from "../aip/errors.ts";
import { completeError } from "../pipeline/finish-error.ts";
import type { Method } from "../pipeline/method.ts";
import { fromConnectError, toConnectError } from "./connect-error.ts";
import { compressedFlag, compressionUnnamed, openEnvelope, prefixLength, readMessage } from "./fast/envelope.ts";
import { parseJsonText } from "./rest/json-text.ts";
import { fitTrailers } from "./trailer-budget.ts";

/** The bounds of a message, and how it may be compressed. */
export interface MessageLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonDepth: number;
  readonly compressions: readonly Compression[];
}

/** What the head of a request says about its body. */
interface Form {
  readonly isJson: boolean;
  readonly isEnveloped: boolean;
  /** Undefined for none, and for one that connect-node refuses. */
  readonly compression: Compression | undefined;
}

/** Surrounds the handler of a method of one message: to read what the method may not be asked fails. */
export function checked(handler: UniversalHandler, method: Method, limits: MessageLimits): UniversalHandler {
  const check = (request: UniversalServerRequest) => {
    const body = request.body as AsyncIterable<Uint8Array>;
    return handler({ ...request, body: checkedBody(body, formOf(request.header, limits), method, limits) });
  };
  return Object.assign(check, handler);
}

function formOf(header: Headers, { compressions }: MessageLimits): Form {
  const type = header.get("content-type") ?? "";
  const isEnveloped = /^application\/grpc\b/i.test(type);
  const encoding = header.get(isEnveloped ? "grpc-encoding" : "content-encoding");
  return {
    isJson: /^application\/(?:grpc(?:-web)?\+)?json\b/i.test(type),
    isEnveloped,
    compression: compressions.find(({ name }) => name === encoding),
  };
}

/** The same bytes, once they are all there and found good. */
async function* checkedBody(
  body: AsyncIterable<Uint8Array>,
  form: Form,
  method: Method,
  limits: MessageLimits,
): AsyncIterable<Uint8Array> {
  try {
    const bytes = await collect(body, form.isEnveloped ? prefixLength : 0, limits.maxBodyBytes);
    const message = await messageIn(bytes, form, limits.maxBodyBytes);
    if (form.isJson) parseJsonText(message, limits.maxJsonDepth);
    else readMessage(method, message);
    yield bytes;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ConnectError)) throw error;
    const told = completeError(fromConnectError(error), method.errorDomain);
    throw toConnectError(form.isEnveloped ? fitTrailers(told) : told);
  }
}

async function collect(body: AsyncIterable<Uint8Array>, prefixBytes: number, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > prefixBytes + maxBytes) throw resourceExhausted(`the message is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The message as it was before it was compressed. */
async function messageIn(body: Buffer, form: Form, maxBytes: number): Promise<Uint8Array> {
  const { isEnveloped, compression } = form;
  const { flags, bytes } = isEnveloped ? openEnvelope(body, maxBytes) : { flags: compressedFlag, bytes: body };
  if (flags !== compressedFlag) return bytes;
  if (compression) return await compression.decompress(new Uint8Array(bytes), maxBytes);
  if (isEnveloped) throw compressionUnnamed();
  return bytes;
}
