import { type Call, newCall } from "../../pipeline/call.ts";
import { clientAddress } from "./client-address.ts";
import { connectionOf, type HttpRequest, readHeader } from "./message.ts";
import type { RequestLifetime } from "./request-lifetime.ts";

/** The call that a plain HTTP request makes. `authorizationOf` turns an Authorization header into what the API reads. */
export function httpCall(
  req: HttpRequest,
  requestId: string,
  client: RequestLifetime,
  authorizationOf?: (header: string | undefined) => string | undefined,
): Call {
  return newCall({
    transport: "rest",
    requestId,
    clientAddress: clientAddress(req),
    connection: connectionOf(req),
    isHead: req.method === "HEAD",
    header(name) {
      const value = readHeader(req, name);
      return authorizationOf && name === "authorization" ? authorizationOf(value) : value;
    },
    signal() {
      return client.signal;
    },
  });
}
