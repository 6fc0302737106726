// The interfaces of the protocols: one message in, and one message or an error out, or a stream of messages.
import type { Message } from "@bufbuild/protobuf";
import type { ApiError } from "../../aip/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { TransportName } from "../../pipeline/call.ts";
import type { Method } from "../../pipeline/method.ts";
import type { ChallengedCall } from "../http/challenge.ts";
import type { OutgoingResponse, ResponseHeaders } from "../http/response.ts";
import type { Codec } from "./codec.ts";
import type { Compression, WireMessage } from "./compression.ts";

/** A header of the request by its lower-case name. */
export type HeaderOf = (name: string) => string | undefined;

/** How a protocol reads requests. */
export interface RequestProtocol {
  readonly transport: TransportName;
  /** The content types of its requests. */
  readonly contentTypes: readonly string[];
  readonly codec: Codec;
  /** The header that names the compression of a message. */
  readonly encodingHeader: string;
  /** The header of a request that names the compressions that its client accepts, and of a response to an unknown one. */
  readonly acceptHeader: string;
  /** Bytes in front of the message of a body. */
  readonly prefixBytes: number;
  /** Returns the deadline of the request in milliseconds, 0 without one; the error of the call if it is malformed or has passed. */
  timeoutOf(header: HeaderOf): number | ApiError;
  /** Returns the message of a complete body, which may be compressed if `isEncoded`. Throws an ApiError if there is no such message. */
  open(body: Buffer, maxBytes: number, isEncoded: boolean): WireMessage;
}

/** How a protocol reads requests and writes responses. */
export interface Protocol extends RequestProtocol {
  /** Makes the response of a message, which is compressed if it is long enough. */
  success(method: Method, message: Message, compression?: Compression): MaybePromise<OutgoingResponse>;
  /** Makes the response to an error of a call. */
  failure(error: unknown, call: ChallengedCall): OutgoingResponse;
}

/** How a protocol reads requests and writes streams of messages, each in an envelope. */
export interface StreamProtocol extends RequestProtocol {
  readonly headers: ResponseHeaders;
  /** Returns the envelope behind the last message, or the trailers; with the error of a call that failed. */
  end(error: ApiError | undefined): Pick<OutgoingResponse, "trailers"> & { readonly last?: Buffer };
}
