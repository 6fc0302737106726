import { type Call, newCall, type TransportName } from "../../pipeline/call.ts";
import type { RequestHead } from "./head.ts";

/** Parts of a call that not every transport has. */
type CallExtras = Partial<Pick<Call, "requestId" | "header" | "lifetime">> & {
  readonly signal?: () => AbortSignal | undefined;
};

/** Creates the `Call` of a request. `requestId` and `header` replace those of the head. */
export function callOf(head: RequestHead, transport: TransportName, extras: CallExtras = {}): Call {
  return newCall({
    transport,
    requestId: extras.requestId ?? head.requestId,
    clientAddress: head.clientAddress,
    connection: head.connection,
    isHead: head.method === "HEAD",
    isConnectionClosing: () => head.peer.isClosing,
    header: extras.header ?? ((name) => head.header(name)),
    ...(extras.lifetime && { lifetime: extras.lifetime }),
    ...(extras.signal && { signal: extras.signal }),
  });
}
