import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ownAudiences } from "../../src/sts/audiences.ts";
import { answersOf, newBrowser, signInAs, signInUrl } from "../harness/browser.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { keyPair, signOutside, startIssuer } from "./outside.ts";

describe("an audience of this service", () => {
  const names = ["http://127.0.0.1:8080", "https://gatehouse.example", "registry.example"];
  const table: readonly (readonly [text: string, production: string | undefined, development: string | undefined])[] = [
    ["https://gatehouse.example", names[1], names[1]],
    ["https://gatehouse.example/", names[1], names[1]],
    ["https://gatehouse.example//", undefined, undefined],
    ["https://gatehouse.example/a", undefined, undefined],
    ["https://GATEHOUSE.example", undefined, undefined],
    ["http://gatehouse.example", undefined, undefined],
    ["https://gatehouse.exampl", undefined, undefined],
    ["registry.example/", names[2], names[2]],
    ["http://127.0.0.1:8080/", names[0], names[0]],
    ["http://localhost:8080", undefined, names[0]],
    ["http://localhost:8080/", undefined, names[0]],
    ["http://[::1]:8080", undefined, names[0]],
    ["http://localhost:8081", undefined, undefined],
    ["https://localhost:8080", undefined, undefined],
    ["http://localhost.example:8080", undefined, undefined],
    ["http://127.0.0.1.example:8080", undefined, undefined],
    ["http://127.0.0.10:8080", undefined, undefined],
    ["http://127.1:8080", undefined, undefined],
    ["*", undefined, undefined],
    ["", undefined, undefined],
    ["/", undefined, undefined],
  ];
  for (const [text, production, development] of table) {
    it(`the audience ${JSON.stringify(text)} means ${production} in production, and ${development} in development`, () => {
      assert.equal(ownAudiences(names, false).find(text), production);
      assert.equal(ownAudiences(names, true).find(text), development);
    });
  }
});

describe("a server in development", () => {
  const key = keyPair("ES256");
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let identity: string;
  before(async () => {
    issuer = await startIssuer(key);
    server = await startTestServer();
    const claimMatch = { issuer: issuer.url, subject: "ci" };
    const path = `/iam/v2beta1/identities/${server.groupUid}`;
    identity = (await rest(server.url, server.ownerToken, "POST", path, { name: "ci", claimMatch })).body.uid;
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const named = (host: string, end = "") => server.config.baseUrl.replace("127.0.0.1", host) + end;
  const audOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).aud;
  const texts = () => [named("localhost"), named("localhost", "/"), named("127.0.0.1", "/"), named("[::1]")];

  async function exchange(aud: string, audienceOfToken = server.config.baseUrl) {
    const now = Math.floor(Date.now() / 1000);
    const token = await signOutside(key, { iss: issuer.url, sub: "ci", aud: audienceOfToken, iat: now, exp: now + 60 });
    const query = new URLSearchParams({ aud, identity });
    return await rest(server.url, token, "GET", `/sts/exchange?${query}`);
  }

  it("exchanges tokens that are for it under any of its names, and issues tokens under one", async () => {
    for (const text of texts()) {
      const asked = await exchange(text);
      assert.deepEqual([asked.status, audOf(asked.body.token)], [200, server.config.baseUrl], text);
      assert.equal((await rest(server.url, asked.body.token, "GET", "/auth/v1/ok")).status, 200);
      assert.equal((await exchange(server.config.baseUrl, text)).status, 200, text);
    }
  });

  it("says which audiences it accepts", async () => {
    const { status, body } = await exchange("http://localhost:1");
    const accepted = `${server.config.baseUrl}, ${server.config.registry.service}`;
    assert.equal(status, 400);
    assert.equal(
      body.message,
      `Invalid argument: aud[0]: "http://localhost:1" is not an accepted audience; accepted: ${accepted}`,
    );
  });

  it("signs people in, and refreshes their tokens, under any of its names", async () => {
    const query = { audience: named("localhost", "/"), create_refresh_token: "true" };
    const answers = answersOf(await signInAs("someone", signInUrl(server.url, query), newBrowser()));
    assert.equal(audOf(answers.token ?? ""), server.config.baseUrl);
    const refreshed = await fetch(`${server.url}/sts/exchange_refresh_token`, {
      method: "POST",
      headers: { authorization: `Bearer ${answers.refresh_token}` },
      body: new URLSearchParams({ aud: named("[::1]") }),
    });
    const { token } = (await refreshed.json()) as { token: { token: string } };
    assert.equal(audOf(token.token), server.config.baseUrl);
  });
});
