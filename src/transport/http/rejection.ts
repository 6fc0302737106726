// Plain-text responses to requests that no handler sees.
import { internalError } from "./http2-error-codes.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

const texts: Readonly<Record<number, string>> = {
  405: "the method is not allowed",
  408: "the request did not arrive in time",
  413: "the chunks of the body have extensions that are too long",
  431: "the target and the headers of the request are too long, or too many",
  501: "the method is not implemented; DELETE, GET, HEAD, OPTIONS, PATCH, POST and PUT are",
  505: "the version of HTTP is not supported; HTTP/1.1 and HTTP/2 are",
};

/** The methods that some path allows, for the `Allow` header of a request whose method no path does. */
export const allowedMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";

/** The content type of a rejection. */
export const rejectionType = "text/plain; charset=utf-8";

/** Returns the body of a rejection: one line that says what is wrong (RFC 9110 §15.5, §15.6). */
export function rejectionText(status: number): string {
  return `${texts[status] ?? "the request is malformed"}\n`;
}

/**
 * Responds with a status and one line of text, by default that of the status, and closes the connection over HTTP/1. Aborts a response that
 * has begun.
 */
export function reject(response: HttpResponse, status: number, text = rejectionText(status)): void {
  if (response.headersSent) {
    abort(response, internalError);
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  if ("shouldKeepAlive" in response) response.shouldKeepAlive = false;
  response.statusCode = status;
  // RFC 9110 §15.5.6: a 405 names what is allowed.
  if (status === 405) response.setHeader("allow", allowedMethods);
  response.setHeader("content-type", rejectionType);
  response.setHeader("content-length", text.length);
  // RFC 9110 §9.3.2: a response to HEAD has no content.
  response.end(response.req.method === "HEAD" ? "" : text);
}

/** Closes the HTTP/2 stream with an error code, or the HTTP/1 connection. */
export function abort(message: HttpRequest | HttpResponse, code: number): void {
  if ("stream" in message) message.stream.close(code);
  else message.destroy();
}
