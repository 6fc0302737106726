// The state of a login in progress: a browser that was redirected to a login provider.
import { randomBytes } from "node:crypto";
import { permissionDenied } from "../aip/errors.ts";
import type { SignInRow } from "../storage/sign-in/sign-ins.ts";
import type { LoginProvider } from "./login-provider.ts";
import type { LoginRequest } from "./login-request.ts";
import type { LoginSecrets } from "./openid-client.ts";
import { type BindingCookie, bindingCookieName, sealRow } from "./sealed-row.ts";

/** The stored state of a login while the browser is at the provider. */
export interface Login {
  readonly request: LoginRequest;
  /** The uid of the provider that the browser was sent to; empty for the operator's. */
  readonly provider: string;
  /** The issuer and client at that time. Absent in logins that an earlier version started. */
  readonly client?: LoginClient | undefined;
  readonly secrets: LoginSecrets;
}

/** The issuer and client of a login: the provider may be changed while the browser is away. */
export type LoginClient = Pick<LoginProvider, "issuer" | "clientId">;

/** A login, and the cookie that binds it to the browser. */
export interface StartedLogin {
  readonly login: Login;
  readonly row: SignInRow;
  readonly cookie: BindingCookie;
}

/** Creates the secrets of a login. */
export function startLogin(
  request: LoginRequest,
  { uid, issuer, clientId }: LoginProvider,
  expireTime: number,
  isSecure: boolean,
): StartedLogin {
  const [state, nonce, codeVerifier, value] = Array.from({ length: 4 }, () => randomBytes(32).toString("base64url"));
  const secrets = { state: state!, nonce: nonce!, codeVerifier: codeVerifier! };
  const login = { request, provider: uid, client: { issuer, clientId }, secrets };
  const row = sealRow("login", { state: state!, cookie: value! }, login, expireTime);
  return { login, row, cookie: { name: bindingCookieName("login", row.id, isSecure), value: value! } };
}

/**
 * Throws if the provider was changed since the browser was sent to it. The code of one provider must never be sent to another
 * (RFC 9700 §4.4).
 */
export function requireSameClient({ client }: Pick<Login, "client">, provider: LoginProvider): void {
  if (client && (client.issuer !== provider.issuer || client.clientId !== provider.clientId))
    throw permissionDenied("the login provider was changed during the sign-in: sign in again", { check: "changed" });
}
