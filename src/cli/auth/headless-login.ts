// Sign-in without a local browser: the user opens an address on another device, and the token comes back encrypted for
// a key that only this process has.
import { createDecipheriv, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject } from "../../base/json.ts";
import { userCodeOf } from "../../sign-in/user-code.ts";
import type { Target } from "../client/credential.ts";
import { reach } from "../client/reach.ts";
import { newRetries } from "../client/retry.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import type { SignedIn } from "./browser-login.ts";
import { type LoginOptions, loginAddress } from "./login-address.ts";
import { startWaiting } from "./waiting.ts";

/** The polling interval, in milliseconds. */
const intervalMs = 2_000;

/** Prints an address to open on another device, and waits for the token. */
export async function loginHeadless(shell: Shell, target: Target, options: LoginOptions): Promise<SignedIn> {
  const { publicKey, privateKey } = generateKeyPairSync("x25519");
  const code = String(publicKey.export({ format: "jwk" }).x);
  const address = loginAddress(target, { ...options, refresh: false }, { headless_code: code });
  note(shell, `Open this address in a browser on any device, and sign in there:\n\n  ${address}\n`);
  note(shell, `The page must show the code ${userCodeOf(code)}.`);
  using waiting = startWaiting(shell);
  const { signal } = waiting;
  const retry = newRetries({
    signal,
    onPause: ({ message }, pauseMs) => note(shell, `gatehouse: ${message}; the next attempt is in ${pauseMs / 1000} s`),
  });
  for (;;) {
    const session = await retry(() => findSession(target, code));
    if (session) return { token: decrypt(session, privateKey), refreshToken: "" };
    await sleep(intervalMs, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

interface HeadlessSession {
  readonly ecdhPublicKey: string;
  readonly encryptedIdtoken: string;
}

/** Undefined until the user has signed in. */
async function findSession({ issuer }: Target, code: string): Promise<HeadlessSession | undefined> {
  const address = new URL(`${issuer}/sts/headless_sessions`);
  address.searchParams.set("code", code);
  const reply = await reach(issuer, address, { redirect: "error" });
  const body: unknown = await reply.json().catch(() => undefined);
  if (!isJsonObject(body) && reply.status < 500)
    throw new CommandFailure(`${issuer} answers, but not as a server of this API does (HTTP ${reply.status})`, {
      status: "Unimplemented",
      hint: "Look at the address of the issuer: --issuer, or `gatehouse config view`.",
    });
  const { message, ecdhPublicKey, encryptedIdtoken } = (body ?? {}) as Record<string, unknown>;
  if (reply.status === 404) return undefined;
  const reason = printable(String(message ?? `HTTP ${reply.status}`));
  if (reply.status >= 500) throw new CommandFailure(`${issuer} fails: ${reason}`, { status: "Unavailable" });
  if (!reply.ok)
    throw new CommandFailure(`${issuer} rejects sign-in without a browser: ${reason}`, {
      status: "FailedPrecondition",
    });
  return { ecdhPublicKey: String(ecdhPublicKey ?? ""), encryptedIdtoken: String(encryptedIdtoken ?? "") };
}

// The key is the bytes of its base64url text, in the base64 of JSON: encoded twice.
function decrypt({ ecdhPublicKey, encryptedIdtoken }: HeadlessSession, privateKey: KeyObject): string {
  try {
    const x = Buffer.from(ecdhPublicKey, "base64").toString();
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
    const encrypted = Buffer.from(encryptedIdtoken, "base64");
    const decipher = createDecipheriv(
      "aes-256-gcm",
      diffieHellman({ privateKey, publicKey }),
      encrypted.subarray(0, 12),
    );
    decipher.setAuthTag(encrypted.subarray(-16));
    return Buffer.concat([decipher.update(encrypted.subarray(12, -16)), decipher.final()]).toString();
  } catch {
    throw new CommandFailure("the token that the server sent cannot be decrypted");
  }
}
