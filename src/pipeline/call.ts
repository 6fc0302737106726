import type { Caller } from "../authn/caller.ts";
import type { Access, Scope } from "../authz/access.ts";
import type { Method } from "./method.ts";

/** Which door a request came through. */
export type DoorName = "rest" | "grpc" | "grpc-web" | "connect";

/**
 * What the pipeline and the handlers know of a request besides its message.
 *
 * The door makes it; the pipeline adds `caller` and `access`. Handlers may add reply headers.
 */
export interface Call {
  readonly door: DoorName;
  /** Names the request in the log and in error metadata. */
  readonly requestId: string;
  /** The address of the peer, for limits per source. Empty when unknown. */
  readonly peer: string;
  /** A header of the request by its lower-case name; undefined when absent. Repeated headers are joined by ", ". */
  header(name: string): string | undefined;
  /** Set on the reply by every door; names in lower case. */
  readonly replyHeaders: Map<string, string>;
  /** Aborted when the client goes away or its deadline passes. */
  readonly signal: AbortSignal | undefined;
  /** The method that is called. Set by the pipeline. */
  method?: Pick<Method, "path" | "descriptor">;
  /** Who is calling. Set by the authenticate step; absent for methods that are open to all. */
  caller?: Caller;
  /** What the caller may do. Set together with `caller`. */
  access?: Access;
  /** The subtrees that an unscoped method may show. Set by the authorize step. */
  scope?: Scope;
}

/** What a door says of a request. The signal is asked for only when a handler listens. */
type CallInit = Pick<Call, "door" | "requestId" | "peer" | "header"> & { readonly signal?: () => AbortSignal };

/** Makes the call of one request. */
export function newCall({ door, requestId, peer, header, signal }: CallInit): Call {
  return {
    door,
    requestId,
    peer,
    header,
    replyHeaders: new Map(),
    get signal() {
      return signal?.();
    },
  };
}
