// The frames between the processes of a server: two lengths of four bytes, a head in JSON, and a message in protobuf.
import type { Socket } from "node:net";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { sendAtTickEnd } from "../http/response-batch.ts";
import { writeBinary } from "../unary/protobuf-encoder.ts";

/** Bytes in front of the head: the length of what follows them both, and that of the head. */
const lengthBytes = 8;

/** The largest frame. A call has at most the 4 MiB of a body. */
export const maxFrameBytes = 64 * 1024 * 1024;

/** Receives frames; `message` is valid during the call only. */
export type FrameListener = (head: readonly unknown[], message: Uint8Array) => void;

/** Sends frames over a socket and receives them. The frames of an event-loop tick are sent together. */
export class FrameSocket {
  readonly #socket: Socket;
  readonly #onFrame: FrameListener;
  #received: Buffer | undefined;
  #isCorked = false;

  /** Destroys the socket if a frame is malformed, or `onFrame` throws. */
  constructor(socket: Socket, onFrame: FrameListener) {
    this.#socket = socket;
    this.#onFrame = onFrame;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  /** Returns the number of bytes that the other side has not accepted yet. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Sends a head without a message, or with one. */
  send(head: readonly unknown[], schema?: DescMessage, message?: Message): void {
    if (this.#socket.destroyed) return;
    const text = JSON.stringify(head);
    const headBytes = Buffer.byteLength(text);
    const before = lengthBytes + headBytes;
    const frame = schema && message ? writeBinary(schema, message, before) : Buffer.allocUnsafe(before);
    frame.writeUInt32BE(frame.length - lengthBytes, 0);
    frame.writeUInt32BE(headBytes, 4);
    frame.write(text, lengthBytes);
    this.#cork();
    this.#socket.write(frame);
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#socket.cork();
    sendAtTickEnd(() => {
      this.#isCorked = false;
      this.#socket.uncork();
    });
  }

  #receive(chunk: Buffer): void {
    let rest = this.#received ? Buffer.concat([this.#received, chunk]) : chunk;
    this.#received = undefined;
    try {
      for (let end = endOf(rest); end <= rest.length; end = endOf(rest)) {
        const messageStart = lengthBytes + rest.readUInt32BE(4);
        this.#onFrame(JSON.parse(rest.toString("utf8", lengthBytes, messageStart)), rest.subarray(messageStart, end));
        rest = rest.subarray(end);
      }
      if (rest.length > 0) this.#received = rest;
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }
}

/** Returns where the first frame ends; infinity if its length is not there yet. Throws if it is too large. */
function endOf(bytes: Buffer): number {
  if (bytes.length < lengthBytes) return Number.POSITIVE_INFINITY;
  const length = bytes.readUInt32BE(0);
  if (length > maxFrameBytes) throw new Error(`a frame has ${length} bytes`);
  return lengthBytes + length;
}
