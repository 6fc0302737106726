// Sends a stream as server-sent events (WHATWG HTML, "Server-sent events").
import type { Message } from "@bufbuild/protobuf";
import type { ApiError } from "../../aip/errors.ts";
import { toApiError } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import type { StreamMethod } from "../../pipeline/method.ts";
import type { MessageExchange } from "../http/exchange.ts";
import { markLongLived } from "../http/long-lived-stream.ts";
import { callHeaders } from "../http/response.ts";
import { beginStream, sendStream } from "../http/send-stream.ts";
import { commonHeaders } from "./rest-response.ts";

/** The options of event streams. */
export interface EventStreamOptions {
  /** How long a client may take nothing of a stream, in milliseconds. */
  readonly streamStallMs: number;
  /** Writes a message as JSON. */
  readonly write: (message: Message) => string;
  /** Writes an error as the body of an error response. */
  readonly writeError: (error: ApiError) => string;
}

/** The field of requests that the header `Last-Event-ID` fills. */
const startField = "after";
/** The field of responses that becomes the id of an event. */
const idField = "resumeAfter";

/** The headers of the response. Proxies must pass on each event at once. */
const eventHeaders = { ...commonHeaders, "content-type": "text/event-stream", "x-accel-buffering": "no" };

/**
 * Responds with the events of a stream, after `first` has come. Each has the JSON of a message as its data, and an error is an event of the
 * type `error`. Rejects if the client has left.
 */
export async function sendEvents(
  exchange: MessageExchange,
  call: Call,
  messages: AsyncGenerator<Message, void>,
  options: EventStreamOptions,
): Promise<void> {
  const { request, response } = exchange;
  const parts = eventsOf(messages, options);
  const stream = await beginStream({ parts, close: () => void messages.return() });
  if (call.isHead) {
    stream.close();
    exchange.respond({ status: 200, headers: eventHeaders }, call);
    return;
  }
  markLongLived(request);
  await sendStream(response, { status: 200, headers: eventHeaders, stream }, callHeaders(call), options);
}

/** Sets the position of a request from `Last-Event-ID`, which clients send when they reconnect. */
export function continueFrom(request: Message, { descriptor }: StreamMethod, call: Call): void {
  const id = call.header("last-event-id");
  const hasStart = descriptor.input.fields.some(({ localName }) => localName === startField);
  if (id && hasStart) (request as Message & Record<string, unknown>)[startField] = id;
}

/** The error of the first message is thrown: it is the response. */
async function* eventsOf(messages: AsyncGenerator<Message, void>, { write, writeError }: EventStreamOptions) {
  let hasBegun = false;
  try {
    for await (const message of messages) {
      const id = (message as Message & Record<string, unknown>)[idField];
      yield Buffer.from(`id: ${id}\ndata: ${write(message).trimEnd()}\n\n`);
      hasBegun = true;
    }
  } catch (error) {
    if (!hasBegun) throw error;
    yield Buffer.from(`event: error\ndata: ${writeError(toApiError(error)).trimEnd()}\n\n`);
  }
}
