// The state of a login in progress. The browser holds two secrets, state and cookie. The database holds their digests,
// and the rest encrypted with a key derived from the state, so its rows are useless to a reader.
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { isSameSecret } from "../base/secret-text.ts";
import { type ColumnRef, type Encryption, newEncryption } from "../storage/installation/encryption.ts";
import type { SignInRow } from "../storage/sign-in/sign-ins.ts";
import { cookieLine } from "./cookies.ts";
import type { LoginProvider } from "./login-provider.ts";
import type { LoginRequest } from "./login-request.ts";
import type { LoginSecrets } from "./openid-client.ts";

/** What is stored of a login while the browser is at the provider. */
export interface Login {
  readonly request: LoginRequest;
  /** The uid of the provider that the browser was sent to; empty for the operator's. */
  readonly provider: string;
  /** The issuer and client at that time. Absent in logins that an earlier version started. */
  readonly client?: LoginClient;
  readonly secrets: LoginSecrets;
}

/** The issuer and client of a login: the provider may be changed while the browser is away. */
export type LoginClient = Pick<LoginProvider, "issuer" | "clientId">;

/** A login, and the cookie that binds it to the browser. */
export interface StartedLogin {
  readonly login: Login;
  readonly row: SignInRow;
  readonly cookie: { readonly name: string; readonly value: string };
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
  const id = loginId(state!);
  const row = {
    id,
    browserDigest: digest("browser", value!),
    sealed: encryptionOf(state!).encrypt(placeOf(id), JSON.stringify(login)),
    expireTime,
  };
  return { login, row, cookie: { name: cookieName(id, isSecure), value: value! } };
}

/** Returns the id of a login in the database. */
export function loginId(state: string): string {
  return digest("state", state);
}

/** Returns the name of a login's cookie. Each login has its own, so two tabs do not disturb each other. */
export function cookieName(id: string, isSecure: boolean): string {
  // RFC 6265bis §4.1.3.2: no other host and no unencrypted connection can set a cookie with this prefix.
  return `${isSecure ? "__Host-" : ""}gatehouse-login-${id.slice(0, 16)}`;
}

/** Returns the header that sets a login's cookie for so many milliseconds; 0 deletes it. */
export function loginCookieLine({ name, value }: StartedLogin["cookie"], lifeMs: number, isSecure: boolean): string {
  // Lax, because the browser returns from another site.
  return cookieLine({ name, value, path: "/", sameSite: "Lax", lifeMs, isSecure });
}

/** Reports whether the returning browser is the one that started the login. */
export function isSameBrowser(row: SignInRow, cookie: string): boolean {
  return isSameSecret(row.browserDigest, digest("browser", cookie));
}

/** Decrypts the login of a row. Returns undefined if the state does not match. */
export function openLogin({ id, sealed }: SignInRow, state: string): Login | undefined {
  const encryption = encryptionOf(state);
  // Unencrypted text would be returned unchanged.
  if (!encryption.usesCurrentKey(sealed)) return undefined;
  try {
    return JSON.parse(encryption.decrypt(placeOf(id), sealed));
  } catch {
    return undefined;
  }
}

function encryptionOf(state: string): Encryption {
  return newEncryption([Buffer.from(hkdfSync("sha256", state, "", "gatehouse login", 32))]);
}

function placeOf(id: string): ColumnRef {
  return { kind: "sign_ins", uid: id, column: "sealed" };
}

function digest(kind: string, text: string): string {
  return createHash("sha256").update(`login ${kind}\0${text}`).digest("hex");
}
