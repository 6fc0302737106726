// A process that does not write: forwards calls to the one that does.
import { connect, type Socket } from "node:net";
import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { ApiError, Code, unavailable } from "../../aip/errors.ts";
import { currentTraceparent } from "../../base/tracing.ts";
import type { Call, CalledMethod } from "../../pipeline/call.ts";
import type { ForwardCall } from "../../pipeline/forwarding.ts";
import {
  type CallHead,
  type EndHead,
  type ErrorHead,
  type ForwardedHeaders,
  type HelloHead,
  type Notice,
  type ResponseHead,
  type TurnHead,
  toError,
} from "./call-frames.ts";
import { FrameSocket } from "./frames.ts";

/** The address of the process that executes forwarded calls, and the key. */
export interface ForwarderOptions {
  /** The path of the socket. */
  readonly path: string;
  readonly key: string;
  /** Called when a call has been executed, before its response is known to the caller. */
  readonly onExecuted: () => void;
}

/** Forwards calls while there is a connection. Disposing it closes that. */
export interface Forwarder extends Disposable {
  readonly forward: ForwardCall;
  /** Waits for a turn to write by this process. Resolves with undefined without a connection. */
  takeTurn(): Promise<(() => void) | undefined>;
  readonly counts: ForwardCounts;
}

/** The numbers of calls that write since the start. */
export type ForwardCounts = {
  /** Forwarded calls with a response. */
  completed: number;
  /** Forwarded calls whose response is unknown, because the connection ended. */
  lost: number;
  /** Calls that this process executed, because there was no connection. */
  local: number;
};

/** How long to wait after the start of an attempt to connect, in milliseconds. Calls are executed by this process meanwhile. */
const pauseMs = 100;

/** How many bytes may wait to be sent. While there are more, calls are executed by this process. */
const maxUnsentBytes = 16 * 1024 * 1024;

/** How often to look for calls whose deadline has passed or whose client has left, in milliseconds. */
const endCheckMs = 100;

/** Creates a forwarder. It connects now, and after the end of a connection with the next call. */
export function newForwarder(options: ForwarderOptions): Forwarder {
  const counts: ForwardCounts = { completed: 0, lost: 0, local: 0 };
  let connection: Connection | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  const current = (): Connection | undefined => {
    if (connection?.isOpen) return connection.isReady ? connection : undefined;
    if (performance.now() - triedAt < pauseMs) return undefined;
    triedAt = performance.now();
    connection = new Connection(options, counts);
    return undefined;
  };
  current();
  return {
    counts,
    forward(method, request, call) {
      const response = current()?.call(method, request, call);
      if (!response) counts.local++;
      return response;
    },
    takeTurn: async () => await current()?.takeTurn(),
    [Symbol.dispose]: () => connection?.close(),
  };
}

/** A call without a response. */
interface Pending {
  readonly call: Call;
  readonly output: DescMessage;
  /** Whether the other process knows that the call has ended. */
  isEndSent: boolean;
  readonly resolve: (response: Message) => void;
  readonly reject: (error: unknown) => void;
}

class Connection {
  readonly #socket: Socket;
  readonly #frames: FrameSocket;
  readonly #onExecuted: () => void;
  readonly #counts: ForwardCounts;
  readonly #pending = new Map<number, Pending>();
  readonly #turns = new Map<number, (end: (() => void) | undefined) => void>();
  readonly #endCheck: NodeJS.Timeout;
  #lastId = 0;
  #isReady = false;
  isOpen = true;

  constructor({ path, key, onExecuted }: ForwarderOptions, counts: ForwardCounts) {
    this.#onExecuted = onExecuted;
    this.#counts = counts;
    // A call without a response keeps its client's connection open, which is reason enough for the process to stay.
    this.#socket = connect(path).unref();
    this.#frames = new FrameSocket(this.#socket, (head, message) => this.#receive(head, message));
    this.#frames.send([key] satisfies HelloHead);
    // It reports its end by `close`.
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#end());
    this.#endCheck = setInterval(() => this.#sendEnds(), endCheckMs).unref();
  }

  /** Whether it takes calls now. */
  get isReady(): boolean {
    return this.#isReady && this.#frames.unsentBytes < maxUnsentBytes;
  }

  call({ path, descriptor: { input, output } }: CalledMethod, request: Message, call: Call): Promise<Message> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      // The other process knows whether the write is made.
      call.lifetime?.awaitResult();
      this.#pending.set(id, { call, output, isEndSent: false, resolve, reject });
      const { transport, requestId, clientAddress } = call;
      const headers: ForwardedHeaders = {
        authorization: call.header("authorization"),
        traceparent: currentTraceparent(),
        "user-agent": call.header("user-agent"),
        "idempotency-key": call.header("idempotency-key"),
        "if-match": call.header("if-match"),
      };
      const head: CallHead = [id, path, transport, requestId, clientAddress, headers];
      this.#frames.send(head, input, request);
    });
  }

  takeTurn(): Promise<(() => void) | undefined> {
    return new Promise((resolve) => {
      const id = ++this.#lastId;
      this.#turns.set(id, resolve);
      this.#frames.send(["turn", id] satisfies TurnHead);
    });
  }

  #grant(id: number): void {
    const resolve = this.#turns.get(id);
    this.#turns.delete(id);
    resolve?.(() => this.#frames.send(["return", id] satisfies TurnHead));
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(head: readonly unknown[], message: Uint8Array): void {
    if (typeof head[0] === "number") this.#settle(head as unknown as ResponseHead | ErrorHead, message);
    else if (head[0] === "granted") this.#grant((head as unknown as TurnHead)[1]);
    else if ((head as unknown as Notice)[0] === "ready") this.#isReady = true;
    else this.#drain();
  }

  #settle([id, outcome, about]: ResponseHead | ErrorHead, message: Uint8Array): void {
    const pending = this.#pending.get(id);
    if (!pending) throw new Error(`there is no call ${id}`);
    this.#pending.delete(id);
    this.#counts.completed++;
    this.#onExecuted();
    try {
      if (outcome === "error") throw toError(message, about);
      for (const [name, value] of about) pending.call.setResponseHeader(name, value);
      pending.resolve(fromBinary(pending.output, message));
    } catch (error) {
      pending.reject(error);
    }
    if (!this.isOpen && this.#pending.size === 0) this.close();
  }

  /** Tells the other process which calls have ended. It responds to each of them as to any other. */
  #sendEnds(): void {
    for (const [id, pending] of this.#pending) {
      const reason = pending.isEndSent ? undefined : pending.call.lifetime?.ended;
      if (!reason) continue;
      pending.isEndSent = true;
      const isLate = reason instanceof ApiError && reason.code === Code.DEADLINE_EXCEEDED;
      this.#frames.send(["end", id, isLate ? Code.DEADLINE_EXCEEDED : Code.CANCELLED] satisfies EndHead);
    }
  }

  /** Takes no more calls, and closes the connection after the last response. */
  #drain(): void {
    this.isOpen = false;
    if (this.#pending.size === 0) this.close();
  }

  #end(): void {
    this.isOpen = false;
    clearInterval(this.#endCheck);
    this.#onExecuted();
    const ended = unavailable("the process that writes has ended; the write may have happened or not");
    this.#counts.lost += this.#pending.size;
    for (const { reject } of this.#pending.values()) reject(ended);
    for (const resolve of this.#turns.values()) resolve(undefined);
    this.#turns.clear();
    this.#pending.clear();
  }
}
