// Tests the sign-in through a browser that never reports back.
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { PassThrough } from "node:stream";
import { after, it } from "node:test";
import { loginInBrowser } from "../../src/cli/auth/browser-login.ts";
import { processShell } from "../../src/cli/shell.ts";

const never = "export default () => new Promise(() => {});";
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "open") return next(specifier, context);
    return { url: `data:text/javascript,${encodeURIComponent(never)}`, shortCircuit: true };
  },
});
after(() => hooks.deregister());

/** Begins a sign-in; the answer is sent to the address that it is to come back to. */
async function signIn(answer: Readonly<Record<string, string>>) {
  const stderr = new PassThrough();
  const shell = { ...processShell({}), stderr: stderr as unknown as NodeJS.WriteStream };
  const url = "http://127.0.0.1:1";
  const settled = Promise.allSettled([loginInBrowser(shell, { url, issuer: url, audience: url }, {})]);
  const [chunk] = await stderr.take(1).toArray();
  const redirect = new URL(new URL(/http:\S+/.exec(String(chunk))![0]).searchParams.get("redirect")!);
  for (const [name, value] of Object.entries(answer)) redirect.searchParams.set(name, value);
  const page = await fetch(redirect);
  const [outcome] = await settled;
  return { outcome, page };
}

it("a rejection before the browser is open is the error of the sign-in", async () => {
  const { outcome, page } = await signIn({ error: "no account", token: "" });
  assert.equal(page.status, 400);
  assert.match(outcome.status === "rejected" ? String(outcome.reason) : "", /not signed in: no account/);
});

it("a token that arrives before the browser is open is accepted", async () => {
  const { outcome, page } = await signIn({ token: "t", refresh_token: "r" });
  assert.match(await page.text(), /<html lang="en">.*<h1>You are signed in<\/h1>/s);
  assert.deepEqual(outcome, { status: "fulfilled", value: { token: "t", refreshToken: "r" } });
});
