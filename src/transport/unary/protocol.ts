// The interface of the unary protocols: one message in, one message or an error out.
import type { Message } from "@bufbuild/protobuf";
import type { TransportName } from "../../pipeline/call.ts";
import type { Method } from "../../pipeline/method.ts";
import type { ChallengedCall } from "../http/challenge.ts";
import type { OutgoingResponse } from "../http/response.ts";

/** A header of the request by its lower-case name. */
export type HeaderOf = (name: string) => string | undefined;

/** How a protocol encodes requests and responses. */
export interface Protocol {
  readonly transport: TransportName;
  /** The header that names the compression of the request. */
  readonly encodingHeader: string;
  /** Bytes in front of the message of a body. */
  readonly prefixBytes: number;
  /** The deadline of the request in milliseconds: 0 without one, undefined when it is malformed or has passed. */
  timeoutOf(header: HeaderOf): number | undefined;
  /** Decodes the message of a complete body. Throws an ApiError if it is malformed. */
  parse(method: Method, body: Buffer, maxBytes: number): Message;
  success(method: Method, message: Message): OutgoingResponse;
  /** Makes the response to an error of a call. */
  failure(error: unknown, call: ChallengedCall): OutgoingResponse;
}
