import type { Message } from "@bufbuild/protobuf";
import { Code as ConnectCode, ConnectError } from "@connectrpc/connect";
import type { ApiError } from "../../aip/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Call, TransportName } from "../../pipeline/call.ts";
import { clientDisconnected, deadlineExceeded, WorkLifetime } from "../../pipeline/call-lifetime.ts";
import { callOf } from "../http/call.ts";
import type { RequestHead } from "../http/head.ts";

/**
 * A call through connect-node, which decodes its request and encodes its response.
 *
 * The router starts the call: its method authenticates the caller, then waits for `request`. connect-node decodes the request, passes
 * it to `resume`, and encodes the `response` of the method.
 */
export class ConnectCall {
  readonly call: Call;
  /** The decoded request. Never settles if connect-node rejects the call itself. */
  readonly request: Promise<Message>;
  /** What the method returns; set before connect-node has decoded the request. */
  response: MaybePromise<Message> | undefined;
  readonly #resolve: (request: Message) => void;
  readonly lifetime = new WorkLifetime();

  constructor(head: RequestHead, transport: TransportName) {
    this.call = callOf(head, transport, {
      lifetime: this.lifetime,
      signal: () => this.lifetime.signal,
    });
    const { promise, resolve } = Promise.withResolvers<Message>();
    this.request = promise;
    this.#resolve = resolve;
  }

  /** Continues the call with its request. `signal` is aborted when the deadline passes or the client disconnects. */
  async resume(request: Message, signal: AbortSignal): Promise<Message> {
    signal.addEventListener("abort", () => this.lifetime.end(reasonOf(signal)), { once: true });
    this.#resolve(request);
    if (!this.response) throw new Error("the call was not started");
    return await this.response;
  }
}

function reasonOf({ reason }: AbortSignal): ApiError {
  return reason instanceof ConnectError && reason.code === ConnectCode.DeadlineExceeded
    ? deadlineExceeded()
    : clientDisconnected();
}
