// The CORS protocol: which pages of other origins may call the API (https://fetch.spec.whatwg.org/#http-cors-protocol).
import type { HttpHandler } from "./handlers.ts";
import { type HttpRequest, type HttpResponse, pathOf } from "./message.ts";
import type { HeaderList } from "./response.ts";

/** The CORS policy of a server. */
export interface Cors {
  /** Returns the response headers that let pages of this origin read the response; none if they may not, or without an origin. */
  headersFor(origin: string | undefined, path: string): HeaderList;
  /** Wraps a handler: responds to preflight requests, and adds the headers to its responses. */
  surround(handler: HttpHandler): HttpHandler;
}

/**
 * Lets pages of these origins call everything, and pages of any origin the paths that need no token: discovery, key sets, OpenAPI
 * documents and ping. Cookies are never allowed (no `Access-Control-Allow-Credentials`): tokens are sent in a header.
 */
export function newCors(allowedOrigins: readonly string[]): Cors {
  const allowed = new Set(allowedOrigins);
  const named = new Map(allowedOrigins.map((origin) => [origin, responseHeaders(origin)]));
  const allowedOrigin = (origin: string | undefined, path: string): string | undefined => {
    if (origin === undefined) return undefined;
    if (isPublic(path)) return "*";
    return allowed.has(origin) ? origin : undefined;
  };
  const headersFor: Cors["headersFor"] = (origin, path) => {
    const value = allowedOrigin(origin, path);
    if (value === undefined) return [];
    return value === "*" ? publicHeaders : named.get(value)!;
  };
  return {
    headersFor,
    surround: (handler) => (request, response) => {
      const { origin } = request.headers;
      if (origin === undefined) return handler(request, response);
      const path = pathOf(request);
      const value = allowedOrigin(origin, path);
      if (value !== undefined && isPreflight(request)) return respondToPreflight(request, response, value);
      for (const [name, text] of headersFor(origin, path)) response.setHeader(name, text);
      return handler(request, response);
    },
  };
}

// RPCs of PingService have one path in all protocols; REST has one for each version.
const publicPath = /^\/(?:\.well-known\/|openapi\/|token\/jwks\.json$|ping\/[^/]+\/ping$|chainguard\.platform\.ping\.)/;

function isPublic(path: string): boolean {
  return publicPath.test(path);
}

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** The headers of REST, Connect and gRPC-web clients that need permission. */
const requestHeaders = [
  "authorization",
  "content-type",
  "connect-protocol-version",
  "connect-timeout-ms",
  "connect-accept-encoding",
  "connect-content-encoding",
  "grpc-accept-encoding",
  "grpc-encoding",
  "grpc-timeout",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "last-event-id",
  "traceparent",
  "tracestate",
  "x-grpc-web",
  "x-request-id",
  "x-user-agent",
].join(", ");

/** The headers of a response that a page may read, besides its type and length. */
const exposedHeaders = [
  "allow",
  "etag",
  "grpc-encoding",
  "grpc-message",
  "grpc-status",
  "grpc-status-details-bin",
  "idempotent-replayed",
  "retry-after",
  "www-authenticate",
  "x-page-token-expired",
  "x-request-id",
].join(", ");

const publicHeaders = responseHeaders("*");

function responseHeaders(origin: string): HeaderList {
  const headers = [
    ["access-control-allow-origin", origin],
    ["access-control-expose-headers", exposedHeaders],
  ] as const;
  // RFC 9110 §12.5.5: if only some origins are allowed, the response depends on the origin.
  return origin === "*" ? headers : [...headers, ["vary", "Origin"]];
}

/** How long a browser may cache a preflight response, in seconds: the maximum of Chromium. */
const preflightSeconds = 7200;

function respondToPreflight(request: HttpRequest, response: HttpResponse, origin: string): void {
  request.resume();
  response.statusCode = 204;
  const headers = {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "DELETE, GET, HEAD, PATCH, POST, PUT",
    "access-control-allow-headers": requestHeaders,
    "access-control-max-age": String(preflightSeconds),
    vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end();
}
