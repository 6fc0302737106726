// People who share an address, as behind a company's gateway: bad credentials of one do not reject the good ones of another.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { limits } from "../../src/server/limits.ts";
import { answersOf, newBrowser, signInAs, signInUrl } from "../harness/browser.ts";
import type { TestServer } from "../harness/server.ts";
import { basic, getToken } from "../registry/sign-in.ts";
import { createProvider, enableScim, startProvisionedServer } from "../scim/provisioning.ts";
import { stoppedClock } from "./ground.ts";

/** Sends a credential, and returns the status. */
type Send = () => Promise<number>;

describe("an address that has sent too many bad credentials", () => {
  // It stands still, so all of them fall into one second.
  const clock = stoppedClock();
  let server: TestServer;
  before(async () => {
    server = await startProvisionedServer({ clock: clock.read });
  });
  after(() => server[Symbol.asyncDispose]());

  const post = async (path: string, headers: Record<string, string>, body = "{}") =>
    (
      await fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
      })
    ).status;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  async function signedInBrowser(): Promise<Send> {
    const browser = newBrowser();
    const started = await browser.post(`${server.url}/oauth/session/sign-in`, { page: "/console/" });
    const chooser = await browser.visit(JSON.parse(started.text).url);
    let last = await browser.request(`${chooser.url.origin}${chooser.url.pathname}?name=colleague`);
    for (let next = last.headers.get("location"); next && !next.includes("/console/"); ) {
      last = await browser.request(new URL(next, last.url).href);
      next = last.headers.get("location");
    }
    return async () => (await browser.post(`${server.url}/oauth/session/token`)).status;
  }

  async function scim(): Promise<Send> {
    const client = await enableScim(server, await createProvider(server));
    return async () => (await client.send("GET", "/Users")).status;
  }

  async function refreshToken(): Promise<Send> {
    const answers = answersOf(await signInAs("refresher", signInUrl(server.url, { create_refresh_token: "true" })));
    const query = `aud=${encodeURIComponent(server.config.baseUrl)}`;
    return () => post(`/sts/exchange_refresh_token?${query}`, bearer(answers.refresh_token ?? ""), "");
  }

  const bad = "x".repeat(43);
  const kinds: [name: string, good: () => Promise<Send>, bad: () => Promise<number>][] = [
    [
      "the session of a browser",
      signedInBrowser,
      () =>
        post("/oauth/session/token", { origin: server.url, cookie: `gatehouse-session-${server.config.port}=${bad}` }),
    ],
    [
      "a SCIM token",
      scim,
      async () => {
        const headers = bearer(`cgscim_${"0".repeat(64)}`);
        return (await fetch(`${server.url}/scim/v2/${server.groupUid}/Users`, { headers })).status;
      },
    ],
    ["a refresh token", refreshToken, () => post("/sts/exchange_refresh_token", bearer(bad), "")],
    [
      "an API token that was never used",
      async () => {
        const token = await server.tokenOf(server.ownerUid);
        return async () => (await fetch(`${server.url}/iam/v2beta1/groups`, { headers: bearer(token) })).status;
      },
      async () => (await fetch(`${server.url}/iam/v2beta1/groups`, { headers: bearer("a.b.c") })).status,
    ],
    [
      "the password of a registry client that was never used",
      async () => {
        const token = await server.tokenOf(server.ownerUid, {}, server.config.registry.service);
        return async () => (await getToken(server.url, basic("_token", token), [])).status;
      },
      async () => (await getToken(server.url, basic("_token", "a.b.c"), [])).status,
    ],
    [
      "an API token that is exchanged",
      async () => {
        const query = `aud=${encodeURIComponent(server.config.baseUrl)}`;
        return () => post(`/sts/exchange?${query}`, bearer(server.ownerToken), "");
      },
      () => post(`/sts/exchange?aud=${encodeURIComponent(server.config.baseUrl)}`, bearer("a.b.c"), ""),
    ],
  ];

  for (const [name, open, sendBad] of kinds)
    it(`D8: accepts ${name}, and rejects invalid ones with 429`, async () => {
      clock.advance(1000);
      const send = await open();
      let status = 0;
      for (let i = 0; i <= limits.badTokensPerSecond; i++) status = await sendBad();
      assert.equal(status, 429);
      assert.equal(await send(), 200);
    });
});
