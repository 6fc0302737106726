// Raw HTTP/2 frames (RFC 9113 §4.1), for what no client library would send.
import { connect, type Socket } from "node:net";

/** Frame types. */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Error codes that a server ends a session or a stream with. */
export const errorCode = { none: 0, protocolError: 1, cancel: 8, enhanceYourCalm: 11 } as const;

/** Flags; ACK shares its bit with END_STREAM. */
export const flag = { endStream: 1, ack: 1, endHeaders: 4 } as const;

/** The first bytes of a client: the preface and empty SETTINGS. */
export const greeting = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(frameType.settings, 0, 0),
]);

/** A frame that has come in. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A connection that speaks frames. */
export interface FrameClient {
  readonly socket: Socket;
  readonly frames: Frame[];
  readonly closed: Promise<void>;
  send(...parts: Buffer[]): void;
  /** Returns the first frame that fits, awaited; rejects when the connection closes without it. */
  next(wanted: (frame: Frame) => boolean): Promise<Frame>;
}

/** One frame. */
export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Returns a header block of literals that are not indexed (RFC 7541 §6.2.2); names and values below 16 KiB. */
export function headerBlock(headers: Iterable<readonly [string, string]>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of headers) parts.push(Buffer.from([0]), literal(name), literal(value));
  return Buffer.concat(parts);
}

/** Returns the pseudo-headers of a request. */
export function requestHeaders(method: string, path: string): [string, string][] {
  return [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    [":authority", "localhost"],
  ];
}

/** A HEADERS frame that begins a request; the stream stays open unless `ends`. */
export function request(stream: number, ends: boolean, path = "/", more: [string, string][] = []): Buffer {
  const block = headerBlock([...requestHeaders(ends ? "GET" : "POST", path), ...more]);
  return frame(frameType.headers, flag.endHeaders | (ends ? flag.endStream : 0), stream, block);
}

/** A RST_STREAM frame. */
export function reset(stream: number, code: number = errorCode.cancel): Buffer {
  return frame(frameType.reset, 0, stream, Buffer.from([0, 0, 0, code]));
}

/** Returns the error code of a GOAWAY or a RST_STREAM frame. */
export function codeOf({ type, payload }: Frame): number {
  return payload.readUInt32BE(type === frameType.goaway ? 4 : 0);
}

/** Connects and collects what comes in; greets unless told otherwise. */
export function frameClient(port: number, greet = true): FrameClient {
  const socket = connect(port, "127.0.0.1");
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  let buffered: Buffer = Buffer.alloc(0);
  const notify = (): void => {
    for (const check of waiting) check();
  };
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    buffered = takeFrames(Buffer.concat([buffered, chunk]), frames);
    notify();
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("close", notify);
  if (greet) socket.write(greeting);
  return {
    socket,
    frames,
    closed,
    send: (...parts) => void socket.write(Buffer.concat(parts)),
    next: (wanted) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = frames.find(wanted);
          if (found === undefined && !socket.closed) return;
          waiting.delete(check);
          if (found) resolve(found);
          else reject(new Error("the connection closed without the frame"));
        };
        waiting.add(check);
        check();
      }),
  };
}

function takeFrames(bytes: Buffer, into: Frame[]): Buffer {
  let rest = bytes;
  while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
    const end = 9 + rest.readUIntBE(0, 3);
    const payload = rest.subarray(9, end);
    into.push({
      type: rest.readUInt8(3),
      flags: rest.readUInt8(4),
      stream: rest.readUInt32BE(5) & 0x7fffffff,
      payload,
    });
    rest = rest.subarray(end);
  }
  return rest;
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  return Buffer.concat([Buffer.from([127, (rest & 127) | 128, rest >> 7]), bytes]);
}
