// REST exactly as it is written down: nothing is resolved, escaped or completed on the way.
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";

/** A reply. */
export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON; the assertions check them
  readonly json: any;
}

/** Sends one request on a connection of its own; `json` of the reply is undefined when its body is empty. */
export function sendRaw(
  url: string,
  method: string,
  target: string,
  { headers, body }: { readonly headers: Record<string, string>; readonly body?: string },
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: target, method, headers, agent: false }, (response) => {
      const received = text(response).then((body) => ({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: body,
        json: body === "" ? undefined : JSON.parse(body),
      }));
      received.then(resolve, reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
