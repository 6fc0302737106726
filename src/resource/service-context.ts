import type { BlockList } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { NamePolicy } from "../model/trust.ts";
import type { Call } from "../pipeline/call.ts";
import type { Database } from "../storage/database.ts";
import type { Session, WriteContext } from "../storage/engine/session.ts";

/** The dependencies that all services share. */
export interface ServiceContext {
  readonly database: Database;
  readonly clock: Clock;
  /** Authenticates page tokens. */
  readonly pageTokenKey: Uint8Array;
  readonly settings: ServiceSettings;
}

/** The operator settings that services read. */
export interface ServiceSettings {
  /** The public address of this server, without a trailing slash. */
  readonly baseUrl: string;
  /** The callers that may create root groups: anyone with `groups.create` in some group, or operators only. */
  readonly rootGroups: "anyone" | "operators";
  /** When names of workloads are pinned to their ids. */
  readonly pinNames: NamePolicy;
  /** The maximum depth of the group tree, in levels. */
  readonly maxDepth: number;
  /** Whether identities may name an issuer with an http URL on a loopback address. */
  readonly allowInsecureIssuers: boolean;
  /** Issuers whose verified e-mail addresses count in every organization. */
  readonly trustedEmailIssuers: readonly string[];
  /** E-mail domains that many organizations share, such as those of public mail providers. */
  readonly sharedEmailDomains: readonly string[];
  /** Whether sinks may have an http URL on a loopback address. */
  readonly allowInsecureSinks: boolean;
  /** Private networks in which sinks are allowed. */
  readonly privateSinks: BlockList;
  /** The service name of the container registry, which is the audience of its tokens. */
  readonly registryService: string;
  /** The group that names of repositories are relative to; empty if they begin with an organization. */
  readonly registryGroup: string;
  /** How long uses of images are stored; 0 if none are recorded. */
  readonly usesKeptMs: number;
  /** Whether the SBOMs of images are read from the registry. */
  readonly readsContents: boolean;
  /** Ids of the documents that callers can accept. */
  readonly termsDocuments: readonly string[];
}

/** Runs the reads of a response in one snapshot: in that of the call, if several methods answer it together. */
export async function readTogether<T>(
  database: Pick<Database, "read">,
  call: Call,
  body: (session: Session) => Promise<T>,
): Promise<T> {
  return call.snapshot ? await body(call.snapshot) : await database.read(body);
}

/**
 * Returns the caller, method and request id of a call, for the change log, and its deadline. From here on, the response of the call waits
 * for its result.
 */
export function writeContext(call: Call, clock: Clock): WriteContext {
  const { caller, method, requestId, lifetime, precondition } = call;
  lifetime?.awaitResult();
  const context = {
    actor: caller?.uid ?? "",
    method: method?.path ?? "",
    requestId,
    time: clock(),
    lifetime,
    precondition,
    onTag: (tag: string) => call.setResponseHeader("etag", tag),
  };
  if (!caller) return context;
  const { act: actorClaims, mappings: actorMappings } = caller.token;
  return { ...context, actorClaims, actorMappings };
}
