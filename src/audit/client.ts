// The client of a request, as entries of the audit log have it.
import type { Call } from "../pipeline/call.ts";
import { originOf } from "../pipeline/observe.ts";
import type { AccessDetails } from "../storage/change-log/access-entries.ts";

/** What an entry says of a client. */
export type ClientDetails = Pick<AccessDetails, "client" | "userAgent">;

/** The address of the client and its `User-Agent`, each as the log of the server has it. */
export function clientDetails(request: Pick<Call, "clientAddress" | "header">): ClientDetails {
  const { client, userAgent } = originOf(request);
  return { ...(client && { client }), ...(userAgent !== undefined && { userAgent }) };
}
