// Content that is made while it is sent, so that it may be longer than memory.
import type { ServerResponse } from "node:http";
import { ApiError, Code } from "../aip/errors.ts";
import { clientLeft } from "./client.ts";
import { type HttpResponse, isHttp2 } from "./http-message.ts";
import { type HeaderList, headLines, type Reply } from "./reply.ts";

/** Content in parts. */
export interface BodyStream {
  readonly parts: AsyncIterable<string>;
  /** Gives up what the stream holds; always called, also if nothing was read. */
  close(): void;
}

/** Parts are sent together until they have so many characters. */
const chunkLength = 64 * 1024;

/** RFC 9113 §7. */
const internalError = 2;

/**
 * Sends a reply with a stream. It waits while the client takes nothing, for `streamStallMs` at most. Where the stream fails or the
 * client leaves, it breaks the response off and throws: a part never looks like the whole.
 */
export async function sendStream(
  res: HttpResponse,
  { stream, ...reply }: Omit<Reply, "body"> & { readonly stream: BodyStream },
  headers: HeaderList,
  { streamStallMs }: { readonly streamStallMs: number },
): Promise<void> {
  // Both versions of HTTP take the same calls; their types only differ in overloads.
  const out = res as ServerResponse;
  const watch = watchProgress(out, () => breakOff(res), streamStallMs);
  try {
    out.writeHead(reply.status, headLines(reply.headers, headers));
    for await (const chunk of inChunks(stream.parts)) {
      watch.progress();
      if (!out.write(chunk)) await watch.drained();
    }
    out.end();
  } catch (error) {
    breakOff(res);
    throw error;
  } finally {
    watch.stop();
    stream.close();
  }
}

/** Ends a response so that its client can tell that it is not complete. */
function breakOff(res: HttpResponse): void {
  if (isHttp2(res)) res.stream.close(internalError);
  else res.destroy();
}

async function* inChunks(parts: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const part of parts) {
    chunk += part;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** Watches whether a response gets on, and ends it if it does not. */
function watchProgress(res: ServerResponse, end: () => void, stallMs: number) {
  let failure: ApiError | undefined;
  const timer = setTimeout(() => {
    failure ??= new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the response made no progress");
    end();
  }, stallMs).unref();
  const closed = () => {
    failure ??= clientLeft();
  };
  res.on("close", closed);
  return {
    /** Says that there is something to send. Throws once the response is closed. */
    progress() {
      if (failure) throw failure;
      timer.refresh();
    },
    /** Resolves when the client has taken what was written; rejects when the response is closed. */
    drained: () =>
      new Promise<void>((resolve, reject) => {
        const settle = () => {
          res.off("drain", settle).off("close", settle);
          if (failure) reject(failure);
          else resolve();
        };
        res.on("drain", settle).on("close", settle);
      }),
    stop() {
      clearTimeout(timer);
      res.off("close", closed);
    },
  };
}
