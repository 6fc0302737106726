// Content that is produced while it is sent: it may exceed the memory.
import type { ServerResponse } from "node:http";
import { ApiError, Code } from "../../aip/errors.ts";
import { clientDisconnected } from "../../pipeline/call-lifetime.ts";
import { type HttpResponse, isHttp2 } from "./message.ts";
import { type HeaderList, headLines, type OutgoingResponse } from "./response.ts";

/** Content in parts. */
export interface BodyStream {
  /** Texts of any length, or bytes in long parts. */
  readonly parts: AsyncIterable<string | Uint8Array>;
  /** Releases the resources of the stream. Always called, even if nothing was read. */
  close(): void;
}

/** Texts are joined into chunks of at least so many characters. */
const chunkLength = 64 * 1024;

/** RFC 9113 §7. */
const internalError = 2;

/** A stream whose first part is available: an earlier failure can still become an error response. */
export interface BegunStream {
  readonly first: IteratorResult<string | Uint8Array, unknown>;
  readonly chunks: AsyncIterator<string | Uint8Array>;
  close(): void;
}

/** Reads the first part of a stream. If that fails, closes the stream and rejects. */
export async function beginStream({ parts, close }: BodyStream): Promise<BegunStream> {
  const chunks = inChunks(parts);
  try {
    return { first: await chunks.next(), chunks, close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Sends a response with a stream as its content. Waits at most `streamStallMs` for a client that reads nothing. If the stream fails or the
 * client disconnects, aborts the response and throws: incomplete content never looks complete.
 */
export async function sendStream(
  res: HttpResponse,
  { stream, ...reply }: Omit<OutgoingResponse, "body"> & { readonly stream: BegunStream },
  headers: HeaderList,
  { streamStallMs }: { readonly streamStallMs: number },
): Promise<void> {
  // Both HTTP versions accept the same calls; their types differ in overloads only.
  const out = res as ServerResponse;
  const { chunks, close } = stream;
  const watch = watchClient(out, () => breakOff(res), streamStallMs);
  try {
    out.writeHead(reply.status, headLines(reply.headers, headers));
    for (let next = stream.first; next.done !== true; next = await chunks.next()) {
      watch.check();
      if (!out.write(next.value)) await watch.drained();
    }
    out.end();
  } catch (error) {
    breakOff(res);
    throw error;
  } finally {
    watch.stop();
    await chunks.return?.();
    close();
  }
}

/** Ends a response in a way that shows the client that it is incomplete. */
function breakOff(res: HttpResponse): void {
  if (isHttp2(res)) res.stream.close(internalError);
  else res.destroy();
}

async function* inChunks(parts: BodyStream["parts"]): AsyncGenerator<string | Uint8Array> {
  let chunk = "";
  for await (const part of parts) {
    if (typeof part === "string") chunk += part;
    else yield part;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** Watches the client of a response, and calls `end` if it reads nothing for `stallMs`. */
function watchClient(res: ServerResponse, end: () => void, stallMs: number) {
  let failure: ApiError | undefined;
  const closed = () => {
    failure ??= clientDisconnected();
  };
  const stalled = () => {
    failure ??= new ApiError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: the client does not take the response");
    end();
  };
  res.on("close", closed);
  return {
    /** Throws if the response is closed. */
    check() {
      if (failure) throw failure;
    },
    /** Resolves when the client has read what was written; rejects when the response is closed. */
    drained: () =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(stalled, stallMs).unref();
        const settle = () => {
          clearTimeout(timer);
          res.off("drain", settle).off("close", settle);
          if (failure) reject(failure);
          else resolve();
        };
        res.on("drain", settle).on("close", settle);
      }),
    stop: () => void res.off("close", closed),
  };
}
