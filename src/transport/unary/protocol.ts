// What the unary protocols have in common: one message in, one message or an error out.
import type { Message } from "@bufbuild/protobuf";
import type { TransportName } from "../../pipeline/call.ts";
import type { Method } from "../../pipeline/method.ts";
import type { OutgoingResponse } from "../http/response.ts";

/** A header of the request by its lower-case name. */
export type HeaderOf = (name: string) => string | undefined;

/** How one protocol writes requests and answers. */
export interface Protocol {
  readonly transport: TransportName;
  /** The header that names the compression of the request. */
  readonly encodingHeader: string;
  /** How many bytes a body has before its message. */
  readonly prefixBytes: number;
  /** The deadline of the request in milliseconds: 0 without one, undefined when it is malformed or has passed. */
  timeoutOf(header: HeaderOf): number | undefined;
  /** Reads the message from a whole body; throws an ApiError when there is none in it. */
  parse(method: Method, body: Buffer, maxBytes: number): Message;
  success(method: Method, message: Message): OutgoingResponse;
  /** The answer to whatever was thrown. */
  failure(error: unknown): OutgoingResponse;
}
