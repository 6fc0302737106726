// From the body of a request to its message.
import type { Message } from "@bufbuild/protobuf";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Call } from "../../pipeline/call.ts";
import { deadlineExceeded } from "../../pipeline/call-lifetime.ts";
import type { Exchange } from "../http/exchange.ts";
import { checkAnnouncedLength, messageTooLarge } from "../http/message-size.ts";
import { inTurn } from "../http/request-body.ts";
import type { MethodMessages } from "./codec.ts";
import { checkForm, type RequestForm } from "./request-form.ts";

/** Decodes a complete body. Throws an ApiError if it is malformed, or too large. */
export function decodeBody(method: MethodMessages, form: RequestForm, body: Buffer): MaybePromise<Message> {
  const { codec, open } = form.protocol;
  const { compression, limits } = form;
  const { bytes, isCompressed } = open(body, limits.maxBodyBytes, compression !== undefined);
  if (isCompressed && compression) return decompress(method, form, compression, bytes);
  if (bytes.length > limits.maxBodyBytes) throw messageTooLarge(limits.maxBodyBytes);
  return codec.decode(method, bytes);
}

async function decompress(
  method: MethodMessages,
  { protocol, limits }: RequestForm,
  compression: NonNullable<RequestForm["compression"]>,
  bytes: Buffer,
): Promise<Message> {
  return protocol.codec.decode(method, await inTurn(await compression.decompress(bytes, limits.maxBodyBytes)));
}

/**
 * Checks the head of a call, then reads and decodes its body. Rejects with an ApiError if something is wrong with it, or if the deadline has
 * passed meanwhile: the method must not start.
 */
export async function receiveBody(
  method: MethodMessages,
  form: RequestForm,
  call: Call,
  exchange: Exchange,
): Promise<Message> {
  checkForm(form, call);
  const isCompressed = form.compression !== undefined;
  const { prefixBytes } = form.protocol;
  checkAnnouncedLength((name) => call.header(name), form.limits.maxBodyBytes, { prefixBytes, isCompressed });
  const message = await decodeBody(method, form, await exchange.readBody(form.limits));
  if (exchange.hasResponded) throw deadlineExceeded();
  return message;
}
