import { type Call, newCall } from "../pipeline/call.ts";
import type { Client } from "./client.ts";
import { clientAddress } from "./client-address.ts";
import { connectionOf, type HttpRequest, readHeader } from "./http-message.ts";

/** The call that a plain HTTP request makes. */
export function httpCall(req: HttpRequest, requestId: string, client: Client): Call {
  return newCall({
    door: "rest",
    requestId,
    clientAddress: clientAddress(req),
    connection: connectionOf(req),
    isHead: req.method === "HEAD",
    header(name) {
      return readHeader(req, name);
    },
    signal() {
      return client.signal;
    },
  });
}
