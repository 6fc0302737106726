import { type Call, newCall } from "../pipeline/call.ts";
import type { Client } from "./client.ts";
import { connectionOf, type HttpRequest, peerAddress, readHeader } from "./http-message.ts";

/** The call that a plain HTTP request makes. */
export function httpCall(req: HttpRequest, requestId: string, client: Client): Call {
  return newCall({
    door: "rest",
    requestId,
    peer: peerAddress(req),
    connection: connectionOf(req),
    header(name) {
      return readHeader(req, name);
    },
    signal() {
      return client.signal;
    },
  });
}
