// Composes the token service: exchange, refresh, and sign-in of users.
import type { Logger } from "pino";
import type { AccessLog } from "../audit/access-log.ts";
import { exchangeRecorder } from "../audit/exchanges.ts";
import type { FailureLimiter } from "../authn/failure-limiter.ts";
import { openIssuers } from "../authn/issuers.ts";
import { fetchJson, fetchOutbound } from "../authn/outbound-http.ts";
import type { Tokens } from "../authn/tokens.ts";
import type { Policy } from "../authz/policy.ts";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import type { LiveSecrets } from "../config/live-secrets.ts";
import { rootOf } from "../model/uid.ts";
import type { Call } from "../pipeline/call.ts";
import { originOf } from "../pipeline/observe.ts";
import { identityDirectory } from "../services/iam/identities/directory.ts";
import { openSignIn } from "../sign-in/compose.ts";
import type { Database } from "../storage/database.ts";
import { findMembershipsOf } from "../storage/iam/memberships.ts";
import type { Encryption } from "../storage/installation/encryption.ts";
import { defaultAudiences, ownAudiences } from "../sts/audiences.ts";
import { type ExchangeEvent, newExchange, newPersonVerifier } from "../sts/exchange.ts";
import { newExplainExchange } from "../sts/explanation.ts";
import { awsEndpoint, operatorsLogin, outboundOptions } from "./outbound.ts";

/** Options of the token service. */
export interface TokenServiceOptions {
  readonly config: Config;
  readonly database: Database;
  readonly seals: Encryption;
  readonly secrets: LiveSecrets;
  readonly clock: Clock;
  readonly policy: Policy;
  readonly tokens: Tokens;
  /** Limits invalid tokens per client address, across all transports. */
  readonly failures: FailureLimiter;
  readonly log: Logger;
  readonly accessLog: AccessLog;
}

/** Creates the methods of the token service, and the pages of the sign-in. */
export async function openTokenService(options: TokenServiceOptions) {
  const { config, database, seals, secrets, clock, policy, tokens, failures, log, accessLog } = options;
  const outbound = outboundOptions(config);
  const { login, mounts } = await operatorsLogin(config, secrets, log);
  const common = {
    directory: identityDirectory(database, clock),
    grants: {
      grantsOf: async (uid: string, mappings?: readonly string[]) =>
        (await policy.grantsOf(uid, mappings)) ?? new Map(),
    },
    tokens,
    failures,
    audiences: ownAudiences([config.baseUrl, config.registry.service, ...config.audiences], config.dev),
    defaultAudiences: defaultAudiences(config.baseUrl, config.dev),
    clock,
    login,
    issuer: config.baseUrl,
  };
  const issuers = openIssuers({
    fetchJson: (url) => fetchJson(url, outbound),
    clock,
    allowInsecureIssuers: config.dev,
  });
  const fetch: Parameters<typeof openSignIn>[0]["fetch"] = (url, request) => fetchOutbound(url, request, outbound);
  const { findProvider, ...signIn } = openSignIn({
    ...common,
    config,
    database,
    seals,
    log,
    accessLog,
    fetch,
    issuers,
  });
  const recordExchange = exchangeRecorder({
    accessLog,
    exists: async (uid) => ((await common.directory.find(uid)) ?? (await findProvider(uid))) !== undefined,
    organizationsOf: (uid) => organizationsOf(options, uid),
  });
  const exchangeDeps = {
    ...common,
    findProvider,
    issuers,
    aws: awsEndpoint(config),
    log(event: ExchangeEvent, call: Call) {
      log.info({ ...event, requestId: call.requestId, ...originOf(call) }, "token exchange");
      recordExchange(event, call).catch((error) => log.warn({ err: error }, "an exchange is missing in the audit log"));
    },
  };
  return {
    ...signIn,
    mounts,
    issuer: config.baseUrl,
    defaultAudiences: common.defaultAudiences,
    directory: exchangeDeps.directory,
    issuers: exchangeDeps.issuers,
    exchange: newExchange(exchangeDeps),
    explainExchange: newExplainExchange(exchangeDeps),
    verifyPerson: newPersonVerifier(exchangeDeps),
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
