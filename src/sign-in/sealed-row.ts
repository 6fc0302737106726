// Rows of sign-ins in progress. The browser holds two secrets, state and cookie. The database holds their digests, and the rest encrypted
// with a key derived from the state, so its rows are useless to a reader.
import { createHash, hkdfSync } from "node:crypto";
import { isSameSecret } from "../base/secret-text.ts";
import { type ColumnRef, type Encryption, newEncryption } from "../storage/installation/encryption.ts";
import type { SignInRow } from "../storage/sign-in/sign-ins.ts";
import { cookieLine } from "./cookies.ts";

/** The purpose of a row: a browser at a login provider, or the question whether to join. The secrets of one are useless for the other. */
export type RowKind = "login" | "join";

/** The cookie that binds a row to a browser. */
export interface BindingCookie {
  readonly name: string;
  readonly value: string;
}

/** Encrypts the content of a row. `state` and `cookie` are its secrets. */
export function sealRow(
  kind: RowKind,
  secrets: { readonly state: string; readonly cookie: string },
  content: unknown,
  expireTime: number,
): SignInRow {
  const id = rowId(kind, secrets.state);
  return {
    id,
    browserDigest: digest(`${kind} browser`, secrets.cookie),
    sealed: encryptionOf(kind, secrets.state).encrypt(placeOf(id), JSON.stringify(content)),
    expireTime,
  };
}

/** Returns the id of a row in the database. */
export function rowId(kind: RowKind, state: string): string {
  return digest(`${kind} state`, state);
}

/** Returns the name of a row's cookie. Each row has its own, so two tabs do not disturb each other. */
export function bindingCookieName(kind: RowKind, id: string, isSecure: boolean): string {
  // RFC 6265bis §4.1.3.2: no other host and no unencrypted connection can set a cookie with this prefix.
  return `${isSecure ? "__Host-" : ""}gatehouse-${kind}-${id.slice(0, 16)}`;
}

/** Returns the header that sets a row's cookie for so many milliseconds; 0 deletes it. */
export function bindingCookieLine({ name, value }: BindingCookie, lifeMs: number, isSecure: boolean): string {
  // Lax, because the browser returns from another site.
  return cookieLine({ name, value, path: "/", sameSite: "Lax", lifeMs, isSecure });
}

/** Reports whether a browser with this cookie is the one that the row belongs to. */
export function isSameBrowser(kind: RowKind, row: SignInRow, cookie: string): boolean {
  return isSameSecret(row.browserDigest, digest(`${kind} browser`, cookie));
}

/** Decrypts the content of a row. Returns undefined if the state does not match. */
export function openRow(kind: RowKind, { id, sealed }: SignInRow, state: string): unknown {
  const encryption = encryptionOf(kind, state);
  // Unencrypted text would be returned unchanged.
  if (!encryption.usesCurrentKey(sealed)) return undefined;
  try {
    return JSON.parse(encryption.decrypt(placeOf(id), sealed));
  } catch {
    return undefined;
  }
}

function encryptionOf(kind: RowKind, state: string): Encryption {
  return newEncryption([Buffer.from(hkdfSync("sha256", state, "", `gatehouse ${kind}`, 32))]);
}

function placeOf(id: string): ColumnRef {
  return { kind: "sign_ins", uid: id, column: "sealed" };
}

function digest(label: string, text: string): string {
  return createHash("sha256").update(`${label}\0${text}`).digest("hex");
}
