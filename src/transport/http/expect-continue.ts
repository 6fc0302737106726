// Expect: 100-continue (RFC 9110 §10.1.1): a client waits with its body. It is asked for the body when something reads it, which for a method
// of the API is after its token was checked: a rejected request sends none.
import type { HttpRequest, HttpResponse } from "./message.ts";

const awaiting = Symbol("awaiting");

type AwaitingRequest = Pick<HttpRequest, "complete" | "readableLength"> & { [awaiting]?: HttpResponse | undefined };

/** Marks a request whose client waits until it may send its body. */
export function awaitContinue(request: HttpRequest, response: HttpResponse): void {
  (request as AwaitingRequest)[awaiting] = response;
}

/** Asks the client for the body, unless it was asked before, sends it already, or has its response. */
export function continueRequest(request: AwaitingRequest): void {
  const response = request[awaiting];
  if (response === undefined) return;
  request[awaiting] = undefined;
  if (!response.headersSent && !request.complete && request.readableLength === 0) response.writeContinue();
}
