// Describes the client of a request for the audit log.
import type { Call } from "../pipeline/call.ts";
import { originOf } from "../pipeline/observe.ts";
import type { AccessDetails } from "../storage/change-log/access-entries.ts";

/** The fields of an entry that describe the client. */
export type ClientDetails = Pick<AccessDetails, "client" | "userAgent">;

/** Returns the address and `User-Agent` of the client, as in the server log. */
export function clientDetails(request: Pick<Call, "clientAddress" | "header">): ClientDetails {
  const { client, userAgent } = originOf(request);
  return { ...(client && { client }), ...(userAgent !== undefined && { userAgent }) };
}
