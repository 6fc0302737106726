import type { IncomingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { clientAddressBehind } from "./client-address.ts";
import { connectionOf, type HttpRequest, joinedHeader } from "./message.ts";
import { type Peer, peerOf } from "./peer.ts";
import { requestIdBehind } from "./request-id.ts";

/** The parts of a request before its body, read once. */
interface HeadParts {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly peer: Peer;
  readonly connection: object | undefined;
}

/** The head of a request of either HTTP version. */
export class RequestHead {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** The raw path. */
  readonly path: string;
  /** The raw query, without its question mark. */
  readonly query: string;
  /** By lower-case name, as node joins repeated ones. */
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly peer: Peer;
  /** One object per connection: the HTTP/2 session or the HTTP/1 socket. */
  readonly connection: object | undefined;
  #requestId: string | undefined;

  constructor({ method, target, headers, rawHeaders, peer, connection }: HeadParts) {
    const mark = target.indexOf("?");
    this.method = method;
    this.target = target;
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? "" : target.slice(mark + 1);
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.peer = peer;
    this.connection = connection;
  }

  /** Returns a header by its lower-case name. Unlike in `headers`, all repetitions are joined by ", ". */
  header(name: string): string | undefined {
    return this.headers[name] === undefined ? undefined : joinedHeader(this.rawHeaders, name);
  }

  /** Returns the id of the request: see request-id.ts. */
  get requestId(): string {
    this.#requestId ??= requestIdBehind(this.peer, this.headers);
    return this.#requestId;
  }

  /** Returns the address of the client: see client-address.ts. */
  get clientAddress(): string {
    return clientAddressBehind(this.peer, this.headers);
  }
}

/** Reads the head of a request that the listener has checked. */
export function headOfRequest(request: HttpRequest): RequestHead {
  const { method = "", url = "", headers, rawHeaders } = request;
  const peer = peerOf(request.socket);
  return new RequestHead({ method, target: url, headers, rawHeaders, peer, connection: connectionOf(request) });
}

/** Reads the head of a request that is an HTTP/2 stream. */
export function headOfStream(
  { session }: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): RequestHead {
  const [method, target] = [headers[":method"], headers[":path"]].map((value) => value?.toString() ?? "") as [
    string,
    string,
  ];
  return new RequestHead({ method, target, headers, rawHeaders, peer: peerOf(session?.socket), connection: session });
}
