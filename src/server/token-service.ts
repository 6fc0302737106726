// Composes the token service: exchange, refresh, and sign-in of users.
import type { AccessLog } from "../access-log/access-log.ts";
import { exchangeRecorder } from "../access-log/exchanges.ts";
import type { FailureLimiter } from "../authn/failure-limiter.ts";
import { defaultIssuersLimits, openIssuers } from "../authn/issuers.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Policy, SessionClaims } from "../authz/policy.ts";
import { newOutcomeCounts, type OutcomeCounts } from "../base/outcome-counts.ts";
import { type NameReason, nameReasons } from "../model/trust.ts";
import { rootOf } from "../model/uid.ts";
import { fetchJson, fetchOutbound, type OutboundOptions } from "../outbound/http.ts";
import type { Call } from "../pipeline/call.ts";
import { originOf } from "../pipeline/observe.ts";
import { identityDirectory } from "../services/iam/identities/directory.ts";
import { openSignIn } from "../sign-in/compose.ts";
import { signInOutcomes } from "../sign-in/sign-in.ts";
import type { Database } from "../storage/database.ts";
import { findMembershipsOf } from "../storage/iam/memberships.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import { defaultAudiences, ownAudiences, registryAudiences } from "../sts/audiences.ts";
import { type ExchangeEvent, newExchange, newUserTokenVerifier } from "../sts/exchange.ts";
import { newExplainExchange } from "../sts/explanation.ts";
import { standardTokenEndpoint } from "../token-endpoint/token-endpoint.ts";
import { awsEndpoint, operatorsLogin, outboundOptions } from "./outbound.ts";
import { tokenRecorder } from "./seen-tokens.ts";
import type { ServerContext } from "./server-context.ts";

/** The dependencies of the token service. */
export interface TokenServiceOptions extends Omit<ServerContext, "draining"> {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly policy: Policy;
  readonly tokens: Tokens;
  /** Limits invalid tokens per client address, across all transports. */
  readonly failures: FailureLimiter;
  readonly accessLog: AccessLog;
}

/** The methods of the token service, the pages of the sign-in, and what other services share with them. */
export type TokenService = Awaited<ReturnType<typeof newTokenService>>;

/** Composes the token service. */
export async function newTokenService(options: TokenServiceOptions) {
  const { config, secrets, log } = options;
  const outbound = outboundOptions(config);
  const { login, mounts } = await operatorsLogin(config, secrets, log);
  const refusedNames = newOutcomeCounts(nameReasons);
  const exchangeOptions = { ...newExchangeOptions(options, outbound, refusedNames), login };
  const outcomes = newOutcomeCounts(signInOutcomes);
  const { findProvider, ...signIn } = openSignIn({
    ...options,
    outcomes,
    ...exchangeOptions,
    fetch: (url, request) => fetchOutbound(url, request, outbound),
  });
  const exchangeDeps = {
    ...exchangeOptions,
    findProvider,
    aws: awsEndpoint(config),
    log: exchangeLog(options, async (uid) =>
      Boolean((await exchangeOptions.directory.find(uid)) ?? (await findProvider(uid))),
    ),
  };
  const { issuer, defaultAudiences, directory, issuers } = exchangeOptions;
  return {
    ...signIn,
    mounts,
    issuer,
    defaultAudiences,
    registryAudiences: registryAudiences(config.registry, defaultAudiences).defaultAudiences,
    directory,
    issuers,
    signInCounts: outcomes.counts,
    refusedNameCounts: refusedNames.counts,
    exchange: newExchange(exchangeDeps),
    explainExchange: newExplainExchange(exchangeDeps),
    verifyUserToken: newUserTokenVerifier(exchangeDeps),
    standardTokenEndpoint: standardTokenEndpoint(exchangeDeps),
  };
}

/** Returns the options that exchange and sign-in share. */
function newExchangeOptions(
  options: TokenServiceOptions,
  outbound: OutboundOptions,
  refusedNames: OutcomeCounts<NameReason>,
) {
  const { config, database, clock, policy, tokens, failures, log } = options;
  return {
    tokens,
    failures,
    clock,
    issuer: config.baseUrl,
    directory: identityDirectory(database, clock, {
      pinNames: config.pinNames,
      onRefused: ({ reason }) => refusedNames.count(reason),
      onError: (error) => log.warn({ err: error }, "a refused name is missing in the trust of its identity"),
    }),
    grants: {
      grantsOf: async (uid: string, session: SessionClaims) => (await policy.grantsOf(uid, session)) ?? new Map(),
    },
    audiences: ownAudiences([config.baseUrl, config.registry.service, ...config.audiences], config.dev),
    defaultAudiences: defaultAudiences(config.baseUrl, config.dev),
    recordToken: tokenRecorder(options, false),
    issuers: openIssuers({
      fetchJson: (url) => fetchJson(url, outbound),
      clock,
      allowInsecureIssuers: config.dev,
      // All issuers are on this machine, which counts as one host.
      ...(config.staysLocal && {
        limits: { ...defaultIssuersLimits, maxWaitingOfHost: defaultIssuersLimits.maxIssuers },
      }),
    }),
  };
}

/** Returns a function that logs an exchange, and records it in the audit log. */
function exchangeLog(options: TokenServiceOptions, exists: (uid: string) => Promise<boolean>) {
  const { log, accessLog } = options;
  const record = exchangeRecorder({ accessLog, exists, organizationsOf: (uid) => organizationsOf(options, uid) });
  return (event: ExchangeEvent, call: Call) => {
    log.info({ ...event, requestId: call.requestId, ...originOf(call) }, "token exchange");
    const logFailure = (error: unknown) => log.warn({ err: error }, "an exchange is missing in the audit log");
    accessLog.track(record(event, call).catch(logFailure));
  };
}

/** Returns the organizations in which a user has access, and that the user has accepted. */
async function organizationsOf(
  { database, policy }: Pick<TokenServiceOptions, "database" | "policy">,
  userUid: string,
): Promise<string[]> {
  const held = new Set([...((await policy.grantsOf(userUid))?.keys() ?? [])].map(rootOf));
  const accepted = await findMembershipsOf(database.session, [userUid]);
  return accepted.map(({ groupUid }) => groupUid).filter((groupUid) => held.has(groupUid));
}
