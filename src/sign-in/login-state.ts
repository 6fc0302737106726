// A login under way. The browser holds the two secrets, state and cookie; the database holds their digests, and the rest
// of it encrypted under a key that follows from the state, so that its rows help nobody who reads them.
import { createHash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { newSeals, type Place, type Seals } from "../storage/installation/encryption.ts";
import type { SignInRow } from "../storage/sign-in/sign-ins.ts";
import type { LoginProvider } from "./login-provider.ts";
import type { LoginRequest } from "./login-request.ts";
import type { LoginSecrets } from "./openid-client.ts";

/** What is kept of a login while the browser is away. */
export interface Login {
  readonly request: LoginRequest;
  /** The uid of the provider that the browser was sent to; empty for the operator's. */
  readonly provider: string;
  /** What that provider was then. A login that an earlier version began lacks it. */
  readonly client?: LoginClient;
  readonly secrets: LoginSecrets;
}

/** Whom a browser was sent to, and as whose: the provider may be changed while the browser is away. */
export type LoginClient = Pick<LoginProvider, "issuer" | "clientId">;

/** A login and the cookie that ties it to the browser. */
export interface StartedLogin {
  readonly login: Login;
  readonly row: SignInRow;
  readonly cookie: { readonly name: string; readonly value: string };
}

/** Makes the secrets of a login. */
export function startLogin(
  request: LoginRequest,
  { uid, issuer, clientId }: LoginProvider,
  expireTime: number,
  isSecure: boolean,
): StartedLogin {
  const [state, nonce, codeVerifier, value] = Array.from({ length: 4 }, () => randomBytes(32).toString("base64url"));
  const secrets = { state: state!, nonce: nonce!, codeVerifier: codeVerifier! };
  const login = { request, provider: uid, client: { issuer, clientId }, secrets };
  const id = loginId(state!);
  const row = {
    id,
    browserDigest: digest("browser", value!),
    sealed: sealsOf(state!).seal(placeOf(id), JSON.stringify(login)),
    expireTime,
  };
  return { login, row, cookie: { name: cookieName(id, isSecure), value: value! } };
}

/** The name of a login in the database. */
export function loginId(state: string): string {
  return digest("state", state);
}

/** The name of the cookie of a login: one each, so that two tabs do not disturb each other. */
export function cookieName(id: string, isSecure: boolean): string {
  // RFC 6265bis §4.1.3.2: no other host, and no plain connection, can set one of this name.
  return `${isSecure ? "__Host-" : ""}gatehouse-login-${id.slice(0, 16)}`;
}

/** The header that sets the cookie of a login for so many milliseconds, or takes it away after none. */
export function cookieLine({ name, value }: StartedLogin["cookie"], lifeMs: number, isSecure: boolean): string {
  // Lax, since the browser comes back from another site.
  const attributes = ["Path=/", "HttpOnly", "SameSite=Lax", `Max-Age=${Math.floor(lifeMs / 1000)}`];
  return [`${name}=${value}`, ...attributes, ...(isSecure ? ["Secure"] : [])].join("; ");
}

/** Whether the browser that comes back is the one that was sent away. */
export function isSameBrowser(row: SignInRow, cookie: string): boolean {
  return timingSafeEqual(Buffer.from(row.browserDigest), Buffer.from(digest("browser", cookie)));
}

/** The login of a row; undefined when the state is not its own. */
export function openLogin({ id, sealed }: SignInRow, state: string): Login | undefined {
  const seals = sealsOf(state);
  // A text that is not sealed would be taken as it is.
  if (!seals.isCurrent(sealed)) return undefined;
  try {
    return JSON.parse(seals.open(placeOf(id), sealed));
  } catch {
    return undefined;
  }
}

function sealsOf(state: string): Seals {
  return newSeals([Buffer.from(hkdfSync("sha256", state, "", "gatehouse login", 32))]);
}

function placeOf(id: string): Place {
  return { kind: "sign_ins", uid: id, column: "sealed" };
}

function digest(kind: string, text: string): string {
  return createHash("sha256").update(`login ${kind}\0${text}`).digest("hex");
}
