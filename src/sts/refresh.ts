// Refresh tokens (RFC 6749 §6, RFC 9700 §4.14.2): each is valid once, and reuse ends the whole family.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ExchangeRefreshTokenRequest,
  ExchangeRequestSchema,
  type TokenPairSchema,
} from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { permissionDenied, unauthenticated } from "../aip/errors.ts";
import { toTimestamp } from "../aip/timestamps.ts";
import { requireBearer } from "../authn/bearer.ts";
import { type FailureLimiter, withFailureLimit } from "../authn/failure-limiter.ts";
import type { SignIn } from "../model/sign-in.ts";
import type { Call } from "../pipeline/call.ts";
import type { Assumption } from "./assumption.ts";
import { type Audiences, eitherAudiences, exactAudiences } from "./audiences.ts";
import { readExchangeRequest, type WantedToken } from "./exchange-request.ts";
import { type IssueDeps, issueToken } from "./issue-token.ts";
import { newFamilyId, newRefreshToken, parseRefreshToken } from "./refresh-token.ts";

/** The sign-in that a chain of refresh tokens descends from. */
export interface RefreshFamily {
  readonly id: string;
  readonly identityUid: string;
  /** The digest of the only valid token. */
  readonly digest: string;
  readonly signIn: SignIn;
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  readonly expireTime: number;
}

/** Stores families. */
export interface RefreshStore {
  add(family: RefreshFamily): Promise<void>;
  find(id: string): Promise<RefreshFamily | undefined>;
  /** Returns false if `digest` is no longer the valid one. */
  rotate(id: string, digest: string, next: string): Promise<boolean>;
  /** Returns the families of an identity, the oldest first. */
  listOf(identityUid: string): Promise<readonly RefreshFamily[]>;
  /** Replaces the sign-in of a family. */
  update(id: string, signIn: SignIn): Promise<void>;
  revoke(id: string): Promise<void>;
}

/** Dependencies of refreshing. */
export interface RefreshDeps extends IssueDeps {
  readonly store: RefreshStore;
  /** The accepted audiences. */
  readonly audiences: Audiences;
  readonly lifetimeMs: number;
  /** Limits invalid tokens per client address. */
  readonly failures: FailureLimiter;
  /** Throws PERMISSION_DENIED unless everything that allowed the sign-in still holds (security case X5). */
  readonly recheck: (identityUid: string, signIn: SignIn, signInTime: number) => Promise<void>;
  /** Called for each token. `family` is the one that ended, if a token was reused. */
  readonly log?: (event: RefreshEvent, call: Call, family?: RefreshFamily) => void;
}

/** The outcome of using a refresh token. */
export interface RefreshEvent {
  readonly event: "token_refreshed" | "refresh_refused" | "refresh_token_reused";
  /** The uid of the identity; empty if unknown. */
  readonly identity: string;
}

/** A newly issued refresh token. */
export interface IssuedRefreshToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Starts a family and returns its first token. */
export async function startRefresh(
  deps: Pick<RefreshDeps, "store" | "clock" | "lifetimeMs">,
  identityUid: string,
  signIn: SignIn,
): Promise<IssuedRefreshToken> {
  const createTime = deps.clock();
  const expireTime = createTime + deps.lifetimeMs;
  const id = newFamilyId();
  const { text, digest } = newRefreshToken(id, expireTime);
  await deps.store.add({ id, identityUid, digest, signIn, createTime, expireTime });
  return { token: text, expiresAt: expireTime };
}

/** Creates the handler of the ExchangeRefreshToken method. */
export function newRefresh(deps: RefreshDeps) {
  return async (
    request: ExchangeRefreshTokenRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof TokenPairSchema>> => {
    // RFC 6749 §5.1: caches must not store the response, including errors.
    call.setResponseHeader("cache-control", "no-store");
    const token = requireBearer(call.header("authorization"), "the refresh token");
    return await withFailureLimit(deps.failures, {
      source: call.clientAddress,
      verify: () => refreshWith(deps, token, request, call),
    });
  };
}

async function refreshWith(deps: RefreshDeps, token: string, request: ExchangeRefreshTokenRequest, call: Call) {
  const presented = parseRefreshToken(token);
  if (!presented) throw unauthenticated("the token is not a refresh token");
  const family = await deps.store.find(presented.family);
  try {
    // The token of a browser session is valid together with its second cookie only (docs/decisions/0072).
    if (!family || family.signIn.browser) throw refused();
    if (family.digest !== presented.digest) throw await reused(deps, family, call);
    return await refresh(deps, family, request, call);
  } catch (error) {
    deps.log?.({ event: "refresh_refused", identity: family?.identityUid ?? "" }, call);
    throw error;
  }
}

async function refresh(deps: RefreshDeps, family: RefreshFamily, request: ExchangeRefreshTokenRequest, call: Call) {
  const { identityUid, signIn, createTime, expireTime } = family;
  if (expireTime <= deps.clock()) throw refused();
  await deps.recheck(identityUid, signIn, createTime);
  const wanted = readWanted(request, signIn, deps.audiences);
  const issued = await issueToken(deps, assumptionOf(family), wanted);
  // Rotated last, so a caller whose request was invalid can try again with the same token.
  const next = newRefreshToken(family.id, expireTime);
  if (!(await deps.store.rotate(family.id, family.digest, next.digest))) throw await reused(deps, family, call);
  deps.log?.({ event: "token_refreshed", identity: identityUid }, call);
  return {
    token: { token: issued.token, expiry: toTimestamp(issued.expiresAt) },
    refreshToken: { token: next.text, expiry: toTimestamp(expireTime) },
  };
}

/** Returns what a sign-in lets its client assume. */
export function assumptionOf({ identityUid, signIn }: Pick<RefreshFamily, "identityUid" | "signIn">): Assumption {
  const { act, email, emailVerified, scopes, audience } = signIn;
  const claims = { act, email, emailVerified };
  return { uid: identityUid, claims, narrowing: { scopes }, audience };
}

/** Audiences of the sign-in that are no longer accepted are denied, not reported as invalid (security case X5). */
function readWanted(
  request: ExchangeRefreshTokenRequest,
  signIn: SignIn,
  audiences: Audiences,
): Pick<WantedToken, "audience" | "scopes" | "capabilities"> {
  const { aud, scope, scopes, cap } = request;
  const message = create(ExchangeRequestSchema, { aud, scope, scopes, cap });
  const wanted = readExchangeRequest(message, eitherAudiences(audiences, exactAudiences(...signIn.audience)));
  const gone = wanted.audience.find((one) => audiences.find(one) === undefined);
  if (gone !== undefined) throw permissionDenied("the audience is no longer offered", { aud: gone });
  return wanted;
}

/** The token was stolen, from the caller or by the caller: the session ends for both. */
async function reused({ store, log }: RefreshDeps, family: RefreshFamily, call: Call) {
  await store.revoke(family.id);
  log?.({ event: "refresh_token_reused", identity: family.identityUid }, call, family);
  return refused();
}

function refused() {
  return permissionDenied("the refresh token is not in force: sign in again");
}
