// The process that writes: executes the calls that the other processes of the server forward.
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { Code, toApiError } from "../../aip/errors.ts";
import { isSameSecret } from "../../base/secret-text.ts";
import { newCall } from "../../pipeline/call.ts";
import { clientDisconnected, deadlineExceeded, WorkLifetime } from "../../pipeline/call-lifetime.ts";
import type { MethodTable } from "../../pipeline/method.ts";
import {
  type CallHead,
  causeOf,
  type EndHead,
  type ErrorHead,
  type ForwardedHeaders,
  forwardedHeaders,
  type Notice,
  type ResponseHead,
  type TurnHead,
  toStatus,
} from "./call-frames.ts";
import { FrameSocket } from "./frames.ts";

/** The services of the port, and the key of its callers. */
export interface WriterPortOptions {
  /** The path of the socket. One that another process left is replaced. */
  readonly path: string;
  /** The key that callers must have. */
  readonly key: string;
  readonly methods: MethodTable;
  /** Waits for a turn of another process. The returned function ends it. */
  readonly lendTurn: () => Promise<() => void>;
}

/** The open port. Disposing it ends the connections; calls in progress complete, but their callers do not learn it. */
export interface WriterPort extends AsyncDisposable {
  /** Asks the callers for no more calls, and waits for at most this long until they have their responses. */
  drain(timeoutMs: number): Promise<void>;
}

/** Opens the port. Rejects with a system error if the system has no such sockets, or the path is too long for one. */
export async function openWriterPort({ path, key, methods, lendTurn }: WriterPortOptions): Promise<WriterPort> {
  const connections = new Map<Socket, FrameSocket>();
  const server = createServer((socket) => {
    const frames = serveCalls(socket, { key, methods, lendTurn });
    connections.set(socket, frames);
    // It reports its end by `close`.
    socket.on("error", () => {});
    socket.on("close", () => connections.delete(socket));
  });
  await listen(server, path);
  const closed = once(server, "close");
  return {
    async drain(timeoutMs) {
      // Callers do not connect again.
      server.close();
      for (const frames of connections.values()) frames.send(["drain"] satisfies Notice);
      await Promise.race([closed, setTimeout(timeoutMs, undefined, { ref: false })]);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of connections.keys()) socket.destroy();
      await closed;
    },
  };
}

/** Listens. Only the user of this process may connect, who can write to the database file as well. */
async function listen(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  const listening = once(server, "listening");
  const mask = process.umask(0o177);
  try {
    // Exclusive, because a worker of node:cluster would listen in its primary.
    server.listen({ path, exclusive: true });
  } finally {
    process.umask(mask);
  }
  await listening;
}

/** Serves a connection. Ends it if its first frame does not have the key. */
function serveCalls(socket: Socket, { key, methods, lendTurn }: Omit<WriterPortOptions, "path">): FrameSocket {
  let isKnown = false;
  const lifetimes = new Map<number, WorkLifetime>();
  socket.on("close", () => {
    for (const lifetime of lifetimes.values()) lifetime.end(clientDisconnected());
  });
  const frames: FrameSocket = new FrameSocket(socket, (head, message) => {
    if (isKnown) return receive(head as CallHead | EndHead | TurnHead, message);
    if (!isSameSecret(String(head[0]), key)) throw new Error("the key is wrong");
    isKnown = true;
    frames.send(["ready"] satisfies Notice);
  });
  const turns = turnsOf(socket, frames, lendTurn);
  function receive(head: CallHead | EndHead | TurnHead, message: Uint8Array): void {
    if (isCall(head)) {
      const lifetime = new WorkLifetime();
      lifetimes.set(head[0], lifetime);
      const execution = { frames, connection: socket, lifetime, methods };
      void execute(execution, head, message).then(() => lifetimes.delete(head[0]));
    } else if (head[0] === "turn") turns.lend(head[1]);
    else if (head[0] === "return") turns.end(head[1]);
    else if (head[0] === "end")
      lifetimes.get(head[1])?.end(head[2] === Code.DEADLINE_EXCEEDED ? deadlineExceeded() : clientDisconnected());
  }
  return frames;
}

function isCall(head: CallHead | EndHead | TurnHead): head is CallHead {
  return typeof head[0] === "number";
}

/** Lends turns over a connection. They end with it. */
function turnsOf(socket: Socket, frames: FrameSocket, lendTurn: WriterPortOptions["lendTurn"]) {
  const lent = new Map<number, () => void>();
  socket.on("close", () => {
    for (const end of lent.values()) end();
  });
  return {
    lend(id: number): void {
      void lendTurn().then((end) => {
        if (socket.destroyed) return end();
        lent.set(id, end);
        frames.send(["granted", id] satisfies TurnHead);
      });
    },
    end(id: number): void {
      lent.get(id)?.();
      lent.delete(id);
    },
  };
}

/** The state for executing a forwarded call. */
interface Execution {
  readonly frames: FrameSocket;
  readonly connection: object;
  readonly lifetime: WorkLifetime;
  readonly methods: MethodTable;
}

/** Executes a call as any transport does. The process that forwarded it has the log line, the metric and the audit entry of a denial. */
async function execute(
  { frames, connection, lifetime, methods }: Execution,
  [id, path, transport, requestId, clientAddress, headers]: CallHead,
  request: Uint8Array,
): Promise<void> {
  try {
    const method = methods.get(path);
    if (!method) throw new Error(`there is no method ${path}`);
    const { input, output } = method.descriptor;
    const decoded = fromBinary(input, request);
    const header = headerOf(headers);
    const call = newCall({ transport, requestId, clientAddress, connection, header, lifetime, isForwarded: true });
    const response = await method.call(call, () => decoded);
    frames.send([id, "ok", [...call.responseHeaders]] satisfies ResponseHead, output, response);
  } catch (thrown) {
    const error = toApiError(thrown);
    frames.send([id, "error", causeOf(error)] satisfies ErrorHead, StatusSchema, toStatus(error));
  }
}

/** Throws for a header that is not forwarded: a method that reads it would behave otherwise in a worker. */
function headerOf(headers: ForwardedHeaders) {
  return (name: string): string | undefined => {
    // The span of the call lies below that of the process that forwards it.
    if (name === "tracestate") return undefined;
    const forwarded = forwardedHeaders.find((one) => one === name);
    if (!forwarded) throw new Error(`the header ${name} is not forwarded`);
    return headers[forwarded];
  };
}
