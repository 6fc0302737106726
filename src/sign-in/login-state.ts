// A login under way. The browser holds the two secrets, state and cookie; the database holds their digests, and the rest
// of it encrypted under a key that follows from the state, so that its rows help nobody who reads them.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { SignInRow } from "../storage/sign-in.ts";
import type { LoginRequest } from "./login-request.ts";
import type { LoginSecrets } from "./upstream.ts";

/** What is kept of a login while the browser is away. */
export interface Login {
  readonly request: LoginRequest;
  /** The uid of the provider that the browser was sent to; empty for the operator's. */
  readonly provider: string;
  readonly secrets: LoginSecrets;
}

/** A login and the cookie that ties it to the browser. */
export interface StartedLogin {
  readonly login: Login;
  readonly row: SignInRow;
  readonly cookie: { readonly name: string; readonly value: string };
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Makes the secrets of a login. */
export function startLogin(
  request: LoginRequest,
  provider: string,
  expireTime: number,
  isSecure: boolean,
): StartedLogin {
  const [state, nonce, codeVerifier, value] = Array.from({ length: 4 }, () => randomBytes(32).toString("base64url"));
  const login = { request, provider, secrets: { state: state!, nonce: nonce!, codeVerifier: codeVerifier! } };
  const id = loginId(state!);
  const row = { id, browserDigest: digest("browser", value!), sealed: seal(login), expireTime };
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

/** Whether the browser that comes back is the one that was sent away. */
export function isSameBrowser(row: SignInRow, cookie: string): boolean {
  return timingSafeEqual(Buffer.from(row.browserDigest), Buffer.from(digest("browser", cookie)));
}

/** The login of a row; undefined when the state is not its own. */
export function openLogin({ sealed }: SignInRow, state: string): Login | undefined {
  try {
    const bytes = Buffer.from(sealed, "base64");
    const decipher = createDecipheriv(algorithm, keyFor(state), bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const content = bytes.subarray(nonceBytes, -tagBytes);
    return JSON.parse(Buffer.concat([decipher.update(content), decipher.final()]).toString());
  } catch {
    return undefined;
  }
}

function seal(login: Login): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyFor(login.secrets.state), nonce);
  const content = Buffer.concat([cipher.update(JSON.stringify(login)), cipher.final()]);
  return Buffer.concat([nonce, content, cipher.getAuthTag()]).toString("base64");
}

function keyFor(state: string): Buffer {
  return Buffer.from(hkdfSync("sha256", state, "", "gatehouse login", 32));
}

function digest(kind: string, text: string): string {
  return createHash("sha256").update(`login ${kind}\0${text}`).digest("hex");
}
