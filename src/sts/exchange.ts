// Token exchange (modelled on RFC 8693): exchanges a subject token, of another issuer or one of ours, for an API token
// of an identity.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExchangeRequest, RawTokenSchema } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { permissionDenied, toApiError } from "../aip/errors.ts";
import { toTimestamp } from "../aip/timestamps.ts";
import { requireBearer } from "../authn/bearer.ts";
import { type FailureLimiter, withFailureLimit } from "../authn/failure-limiter.ts";
import type { Issuers } from "../authn/issuers.ts";
import type { IssuedToken, Tokens } from "../authn/tokens.ts";
import type { Clock } from "../base/clock.ts";
import type { Call } from "../pipeline/call.ts";
import type { AssumptionDeps, IdentityDirectory } from "./assumable-identity.ts";
import { type Assumption, assumeOwn, assumeWithOutsideToken, verifyUserToken } from "./assumption.ts";
import type { Audiences } from "./audiences.ts";
import { assumeWithAwsRequest } from "./aws/assumption.ts";
import { type AwsEndpoint, identityOf } from "./aws/caller-identity.ts";
import { type AwsRequest, parseAwsRequest } from "./aws/signed-request.ts";
import type { Claims } from "./claim-match.ts";
import { failedCheckOf, malformedToken, show } from "./denials.ts";
import { readExchangeRequest, type WantedToken } from "./exchange-request.ts";
import { type IssueDeps, issueToken } from "./issue-token.ts";
import { assumeByProvider, type OrganizationProvider } from "./provider-assumption.ts";
import { parseSubjectToken, type SubjectToken } from "./subject-token.ts";

/** Dependencies of the token exchange. */
export interface ExchangeDeps extends Pick<AssumptionDeps, "login" | "defaultAudiences"> {
  readonly directory: IdentityDirectory;
  readonly grants: IssueDeps["grants"];
  readonly issuers: Issuers;
  readonly tokens: Pick<Tokens, "issue" | "verify">;
  /** Limits invalid tokens per client address. */
  readonly failures: FailureLimiter;
  /** The base URL of the server: the `iss` of our tokens. */
  readonly issuer: string;
  /** The accepted audiences. */
  readonly audiences: Audiences;
  readonly clock: Clock;
  /** Verifies the signed requests of AWS identities. */
  readonly aws: AwsEndpoint;
  /** Finds the identity provider of an organization by its uid. */
  readonly findProvider?: (uid: string) => Promise<OrganizationProvider | undefined>;
  /** Called for each subject token. */
  readonly log?: (event: ExchangeEvent, call: Call) => void;
}

/** The outcome for one subject token. Texts from the token are cut and escaped. */
export interface ExchangeEvent {
  readonly event: "token_issued" | "token_refused";
  /** The uid of the identity; empty if none was named or found. */
  readonly identity: string;
  /** The uid of the organization's identity provider in the request. */
  readonly identityProvider?: string;
  readonly issuer: string;
  readonly subject: string;
  /** The failed check and the reason of the error; absent on success. */
  readonly check?: string | undefined;
  readonly reason?: string | undefined;
}

/** A token of an issuer, or a signed request that AWS verifies. Issuer and subject are unverified. */
type Presented = SubjectToken | { readonly aws: AwsRequest; readonly issuer: string; readonly subject: string };

/** Creates the handler of the Exchange method. */
export function newExchange(deps: ExchangeDeps) {
  return async (request: ExchangeRequest, call: Call): Promise<MessageInitShape<typeof RawTokenSchema>> => {
    // RFC 6749 §5.1: caches must not store the response, including errors.
    call.setResponseHeader("cache-control", "no-store");
    const token = readToken(call);
    const wanted = readExchangeRequest(request, deps.audiences);
    const issued = await exchangeToken(deps, token, wanted, call);
    return { token: issued.token, expiry: toTimestamp(issued.expiresAt) };
  };
}

/**
 * Exchanges a subject token for an API token, within the failure limit of the client's address. Throws
 * PERMISSION_DENIED with the failed check, RESOURCE_EXHAUSTED beyond the limit, and UNAVAILABLE if the token cannot be
 * checked now.
 */
export async function exchangeToken(
  deps: ExchangeDeps,
  token: string,
  wanted: WantedToken,
  call: Call,
): Promise<IssuedToken> {
  return await checkToken(deps, call.clientAddress, token, async () => {
    const presented = readPresented(token);
    try {
      const assumption = await assume(deps, wanted, presented);
      const issued = await issueToken(deps, assumption, wanted);
      deps.log?.(eventOf("token_issued", assumption.uid, wanted, presented), call);
      return issued;
    } catch (error) {
      const event = eventOf("token_refused", wanted.identity || wanted.identityProvider, wanted, presented);
      deps.log?.({ ...event, ...failureOf(error) }, call);
      throw error;
    }
  });
}

/**
 * Creates a function that returns the verified claims of a call's bearer token, issued by the operator's login
 * provider.
 */
export function newUserTokenVerifier(deps: ExchangeDeps): (call: Call) => Promise<Claims> {
  return async (call) => {
    const token = readToken(call);
    return await checkToken(deps, call.clientAddress, token, async () => {
      const presented = readPresented(token);
      if ("aws" in presented) throw malformedToken();
      return await verifyUserToken(deps, deps.login, presented);
    });
  };
}

/** Reads the token from the header only: a token in the query would end up in logs (security case X14). */
function readToken(call: Call): string {
  return requireBearer(call.header("authorization"), "the token to exchange");
}

/** Checks a token within the failure limit of its client address. */
async function checkToken<T>(
  { failures, issuer }: ExchangeDeps,
  source: string,
  token: string,
  verify: () => Promise<T>,
): Promise<T> {
  const isForeign = () => parseSubjectToken(token)?.issuer !== issuer;
  return await withFailureLimit(failures, { source, expensive: { text: token, isForeign }, verify });
}

function readPresented(token: string): Presented {
  const presented = parseSubjectToken(token);
  if (presented) return presented;
  const aws = parseAwsRequest(token);
  if (!aws) throw malformedToken();
  return { aws, issuer: "AWS", subject: identityOf(aws) };
}

async function assume(
  deps: ExchangeDeps,
  { identityProvider, ...target }: WantedToken,
  presented: Presented,
): Promise<Assumption> {
  if (identityProvider !== "") {
    if ("aws" in presented) throw permissionDenied("the identity provider did not issue the subject token");
    // Never skipped: tokens of this provider are valid for its own organization only.
    const provider = await deps.findProvider?.(identityProvider);
    if (!provider) throw permissionDenied("the identity provider is not known");
    return assumeByProvider(deps, provider, target.identity, presented);
  }
  if ("aws" in presented) return await assumeWithAwsRequest(deps, target.identity, presented.aws);
  if (presented.issuer === deps.issuer) return assumeOwn(deps, target, presented);
  return assumeWithOutsideToken(deps, target, presented);
}

function eventOf(
  event: ExchangeEvent["event"],
  identity: string,
  { identityProvider }: WantedToken,
  { issuer, subject }: Presented,
): ExchangeEvent {
  const provider = identityProvider === "" ? {} : { identityProvider };
  return { event, identity, ...provider, issuer: show(issuer), subject: show(subject) };
}

function failureOf(error: unknown): Pick<ExchangeEvent, "check" | "reason"> {
  const failure = toApiError(error);
  return { reason: failure.reason, check: failedCheckOf(failure) };
}
