// Tokens of Gatehouse: exchanged for a token of another issuer, or for a refresh token.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type RawToken, SecurityTokenService } from "../../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { authorizationOf, type Clock, cachedToken, type ExpiringToken, type TokenSource } from "./tokens.ts";

/** The server that issues tokens, a transport to it that sends none, and the clock by which they expire: that of the system by default. */
export interface TokenServer {
  readonly url: string;
  readonly transport: Transport;
  readonly clock?: Clock;
}

/** A token source, or a function that makes one for the server of the client. */
export type Tokens = TokenSource | ((server: TokenServer) => TokenSource);

/** The purpose of tokens: audience, scopes and identity. */
export interface TokenOptions {
  /** The address of the server by default. */
  readonly audience?: string | readonly string[];
  /** Groups, by uid, that the token is narrowed to. */
  readonly scopes?: readonly string[];
  /** Capabilities, by name, that the token is narrowed to. */
  readonly capabilities?: readonly string[];
}

/** The exchange of a token of another issuer. */
export interface ExchangeOptions extends TokenOptions {
  /** The tokens of the other issuer. */
  readonly subject: TokenSource;
  /** The uid of the identity to assume; by default the only one that the subject token matches. */
  readonly identity?: string;
  /** The uid of the organization's identity provider that issues the subject tokens. */
  readonly identityProvider?: string;
}

/** Exchanges tokens of another issuer for tokens of Gatehouse, and keeps each until shortly before it expires. */
export function exchangedToken(options: ExchangeOptions): Tokens {
  const { subject, identity = "", identityProvider = "" } = options;
  return ({ url, transport, clock }) =>
    cachedToken(async () => {
      const request = { ...requestOf(options, url), identity, identityProvider };
      const call = { headers: bearer(await subject.current()) };
      return expiring(await createClient(SecurityTokenService, transport).exchange(request, call));
    }, clock);
}

/** The tokens of a person who has signed in. */
export interface RefreshOptions extends TokenOptions {
  /** Returns the refresh token. It is read before each use, since each works once. */
  load(): Promise<string> | string;
  /** Stores the refresh token that replaces it. It is called before the new API token is used. */
  store(refreshToken: string): Promise<void> | void;
}

/** Exchanges a refresh token for tokens of Gatehouse, and keeps each until shortly before it expires. */
export function refreshedToken(options: RefreshOptions): Tokens {
  return ({ url, transport, clock }) =>
    cachedToken(async () => {
      const call = { headers: bearer(await options.load()) };
      const client = createClient(SecurityTokenService, transport);
      const pair = await client.exchangeRefreshToken(requestOf(options, url), call);
      // Using a refresh token twice ends its family, and with it the sign-in.
      await options.store(pair.refreshToken?.token ?? "");
      return expiring(pair.token);
    }, clock);
}

function requestOf({ audience, scopes = [], capabilities = [] }: TokenOptions, url: string) {
  return { aud: [audience ?? url].flat(), scopes: [...scopes], cap: [...capabilities] };
}

function bearer(token: string): Record<string, string> {
  return { authorization: authorizationOf(token) };
}

function expiring(issued: RawToken | undefined): ExpiringToken {
  if (!issued?.expiry) throw new Error("the server issued a token without an expiry");
  return { token: issued.token, expiresAt: timestampMs(issued.expiry) };
}
