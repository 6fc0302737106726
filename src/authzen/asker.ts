// The client of a request, and the methods of the API that it calls in this process.
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { outermost } from "../authz/access.ts";
import type { Clock } from "../base/clock.ts";
import { type AuthenticateDeps, authenticate } from "../pipeline/authenticate.ts";
import { accessOf, callerOf, requireCapability, subtreesWithin } from "../pipeline/authorize.ts";
import { type Call, callAs } from "../pipeline/call.ts";
import { methodPath } from "../pipeline/compose.ts";
import type { MethodTable } from "../pipeline/method.ts";
import type { Database } from "../storage/database.ts";

/** The dependencies of the endpoints. */
export interface AuthzenDeps extends AuthenticateDeps {
  /** The endpoints are clients of the API: each question is authorized, logged and counted like any other call. */
  readonly methods: MethodTable;
  readonly database: Pick<Database, "rows">;
  readonly pageTokenKey: Uint8Array;
  readonly clock: Clock;
}

/** An authenticated client. */
export interface Asker extends Pick<AuthzenDeps, "database" | "pageTokenKey" | "clock"> {
  readonly uid: string;
  /**
   * Whether the client may ask about an identity at a group, by the rule of ExplainAccess. Throws PERMISSION_DENIED for a client that may
   * ask about others nowhere: that is a mistake in its role bindings, and says nothing about the group.
   */
  mayAsk(identity: string, group: string): boolean;
  /** Returns the subtrees of these in which the client may ask about an identity. None is within another. */
  askable(identity: string, places: readonly string[]): readonly string[];
  /** Calls a method of the API. */
  invoke<I extends DescMethodUnary>(
    method: I,
    request: MessageInitShape<I["input"]>,
  ): Promise<MessageShape<I["output"]>>;
}

/** Authenticates the client of a call. Rejects with UNAUTHENTICATED. */
export async function authenticateAsker(deps: AuthzenDeps, call: Call): Promise<Asker> {
  const { database, pageTokenKey, clock } = deps;
  await authenticate(call, deps);
  const { uid } = callerOf(call);
  const access = accessOf(call);
  const needed = Capability.CAP_IAM_ROLE_BINDINGS_LIST;
  return {
    uid,
    database,
    pageTokenKey,
    clock,
    mayAsk(identity, group) {
      if (identity === uid || access.has(needed, group)) return true;
      if (access.scope([needed]).length === 0) requireCapability(call, needed, "");
      return false;
    },
    askable: (identity, places) =>
      outermost(identity === uid ? places : places.flatMap((place) => subtreesWithin(call, needed, place))),
    async invoke(descriptor, request) {
      const method = deps.methods.get(methodPath(descriptor));
      if (!method) throw new Error(`${descriptor.name} is not served`);
      call.signal?.throwIfAborted();
      return (await method.call(callAs(call, method), () => create(descriptor.input, request))) as never;
    },
  };
}
