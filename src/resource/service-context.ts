import type { BlockList } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Call } from "../pipeline/call.ts";
import type { Database } from "../storage/database.ts";
import type { Session, WriteContext } from "../storage/engine/session.ts";
import type { Seals } from "../storage/installation/encryption.ts";

/** What the services need of the rest of the program. */
export interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  /** Authenticates page tokens. */
  readonly pageTokenKey: Uint8Array;
  /** Seals and opens secrets that are stored. */
  readonly seals: Seals;
  /** The discovery document of an issuer; undefined when it cannot be had. */
  discover(issuer: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  readonly settings: ServiceSettings;
}

/** What the operator decides about the behaviour of services. */
export interface ServiceSettings {
  /** The public address of this server, without a trailing slash. */
  readonly baseUrl: string;
  /** Who may create root groups: whoever holds `groups.create` somewhere, or operators only. */
  readonly rootGroups: "anyone" | "operators";
  /** How many levels of groups there may be. */
  readonly maxDepth: number;
  /** Whether identities may name an issuer on loopback http. */
  readonly allowInsecureIssuers: boolean;
  /** Issuers whose verified e-mail addresses are believed across organizations. */
  readonly trustedEmailIssuers: readonly string[];
  /** E-mail domains that belong to nobody in particular. */
  readonly sharedEmailDomains: readonly string[];
  /** Whether events may be sent to loopback http. */
  readonly allowInsecureSinks: boolean;
  /** Private addresses that events may be sent to. */
  readonly privateSinks: BlockList;
  /** What the container registry calls itself. */
  readonly registryService: string;
  /** Ids of the documents that can be accepted. */
  readonly termsDocuments: readonly string[];
}

/** Reads all that a response shows from one snapshot: that of the call, where several methods answer it. */
export async function readTogether<T>(
  database: Pick<Database, "read">,
  call: Call,
  body: (session: Session) => Promise<T>,
): Promise<T> {
  return call.snapshot ? await body(call.snapshot) : await database.read(body);
}

/** Who changes something, for the change log. */
export function writeContext(call: Call, clock: Clock): WriteContext {
  const { caller, method, requestId } = call;
  const context = { actor: caller?.uid ?? "", method: method?.path ?? "", requestId, time: clock() };
  if (!caller) return context;
  const { act: actorClaims, mappings: actorMappings } = caller.token;
  return { ...context, actorClaims, ...(actorMappings && { actorMappings }) };
}
