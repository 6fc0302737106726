// Opens what decides about tokens: who the caller is, what they may do, and how they get another token.
import { type AccessLog, type AccessLogOptions, openAccessLog } from "../access-log/access-log.ts";
import { type FailureLimiter, newFailureLimiter } from "../authn/failure-limiter.ts";
import { newTokens, type Tokens } from "../authn/tokens.ts";
import { type GrantSource, newPolicy, type Policy } from "../authz/policy.ts";
import { AccessUsage } from "../authz/usage.ts";
import { lateSigner, openRegistrySigner, type RegistrySigner } from "../registry-token/signer.ts";
import { findSessionRoles } from "../services/iam/delegations/active-delegations.ts";
import { findSuspendedOrganizations } from "../services/iam/provisioning/suspended-people.ts";
import { countAccess } from "../services/statistics/counted-events.ts";
import type { Database } from "../storage/database.ts";
import { findFoundedOrganizations } from "../storage/iam/founding-bindings.ts";
import { findGrants } from "../storage/iam/grants.ts";
import { storeUsage } from "./access-usage.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { StartHooks } from "./start-hooks.ts";
import type { ServerStorage } from "./storage.ts";
import { newTokenService, type TokenService } from "./token-service.ts";

/** Tokens and the decisions about them. Disposing it writes the remaining access entries of the audit log. */
export interface ServerTokens extends AsyncDisposable {
  readonly tokens: Tokens;
  readonly policy: Policy;
  /** Limits invalid tokens per client address, across all transports. */
  readonly failures: FailureLimiter;
  readonly accessLog: AccessLog;
  readonly tokenService: TokenService;
  readonly registrySigner: RegistrySigner;
}

/** Opens tokens, policy, access log, token service and the signer of registry tokens. */
export async function openTokens(
  context: ServerContext,
  storage: ServerStorage,
  { opensRegistryKeyLate = false }: Pick<StartHooks, "opensRegistryKeyLate">,
): Promise<ServerTokens> {
  const { config, clock, log } = context;
  const { database, encryption, keys, tally } = storage;
  const issuer = config.baseUrl;
  const ownAudiences = [issuer, config.registry.service];
  const tokens = newTokens({ issuer, audiences: [issuer], ownAudiences, keys, clock });
  const usage = config.recordsUsage ? new AccessUsage(limits, clock()) : undefined;
  const policy = newDatabasePolicy(database, usage);
  const failures = newFailureLimiter({ perSecond: limits.badTokensPerSecond, sources: limits.badTokenSources }, clock);
  await using opened = new AsyncDisposableStack();
  opened.use(await storeUsage(context, database, usage));
  const count: AccessLogOptions["count"] = (event, time) => countAccess(tally, event, time);
  const accessLog = opened.use(openAccessLog({ database, clock, log, limits, count }));
  const tokenService = await newTokenService({ ...context, ...storage, policy, tokens, failures, accessLog });
  const signerOptions = { issuer, service: config.registry.service, clock };
  const openSigner = () => openRegistrySigner(database, encryption, signerOptions);
  const registrySigner = opensRegistryKeyLate ? lateSigner(openSigner) : await openSigner();
  const closing = opened.move();
  return {
    tokens,
    policy,
    failures,
    accessLog,
    tokenService,
    registrySigner,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function newDatabasePolicy({ session, accessEpoch }: Database, usage: AccessUsage | undefined): Policy {
  const source: GrantSource = {
    findGrants: (uid) => findGrants(session, uid),
    findMappedRoles: (uid, mappings) => findSessionRoles(session, uid, mappings),
    findFoundedOrganizations: (uid) => findFoundedOrganizations(session, uid),
    findSuspendedOrganizations: (act) => findSuspendedOrganizations(session, act),
    epoch: () => accessEpoch.current(),
    latestEpoch: () => accessEpoch.latest(),
    termTime: session.termTime,
  };
  return newPolicy(source, usage);
}
