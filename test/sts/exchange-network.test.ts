import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { issuer } from "../authn/token-fixtures.ts";
import { openExchange, outcome, outsideKey, outsideToken, uid, type workload } from "./exchange-fixtures.ts";
import { type Answer, discoveryPath, fetchLoopback, keyPair, keySetText, startIssuer, startServer } from "./outside.ts";

const identity = uid("org/id");

/** The time limit of requests to an issuer that responds, also on a busy machine. */
const timeoutMs = 60_000;

/** Returns an exchange that talks to real servers, with an identity that names one of them. */
async function openFor(url: string, limits = { timeoutMs }) {
  const exchange = await openExchange({
    requests: [],
    documents: new Map(),
    fetchJson: fetchLoopback(limits),
  });
  const value = { iss: { case: "issuer", value: url }, sub: { case: "subject", value: "workload" } } as const;
  exchange.add("org/id", { case: "claimMatch", value } satisfies typeof workload);
  return exchange;
}

describe("an exchange with an issuer on the network", () => {
  it("discovers the issuer and verifies the token, and the next one by what it kept", async () => {
    await using server = await startIssuer(outsideKey);
    const exchange = await openFor(server.url);
    const token = await outsideToken({ iss: server.url });
    for (let round = 0; round < 2; round++) {
      assert.equal(await outcome(exchange.run({ identity, aud: [issuer] }, token)), "OK");
    }
    assert.deepEqual(server.requests, [discoveryPath, "/keys"]);
  });

  it("learns of a new key by the first token that it signs", async () => {
    await using server = await startIssuer(outsideKey);
    const exchange = await openFor(server.url);
    await exchange.run({ identity }, await outsideToken({ iss: server.url }));
    const rotated = keyPair("ES256", "rotated");
    server.answers["/keys"] = JSON.parse(keySetText(outsideKey, rotated));
    assert.equal(await outcome(exchange.run({ identity }, await outsideToken({ iss: server.url }, rotated))), "OK");
  });

  it("denies a token that it accepted before once the issuer has another key under the same kid, as soon as one that it has not seen", async () => {
    await using server = await startIssuer(outsideKey);
    const exchange = await openFor(server.url);
    const [seen, unseen] = [await outsideToken({ iss: server.url }), await outsideToken({ iss: server.url, jti: "2" })];
    for (let round = 0; round < 2; round++) assert.equal(await outcome(exchange.run({ identity }, seen)), "OK");
    const { kid } = outsideKey;
    const other = keyPair("ES256", "replacement");
    const replaced = { ...other, kid, jwk: { ...other.jwk, kid } };
    server.answers["/keys"] = JSON.parse(keySetText(replaced));
    assert.equal(await outcome(exchange.run({ identity }, await outsideToken({ iss: server.url }, replaced))), "OK");
    for (const token of [seen, unseen])
      assert.match(await outcome(exchange.run({ identity }, token)), /^PERMISSION_DENIED .* verify the signature/);
  });

  it("uses the kept keys while the issuer is down, then is UNAVAILABLE", async () => {
    const server = await startIssuer(outsideKey);
    const exchange = await openFor(server.url);
    const times = { exp: Number.MAX_SAFE_INTEGER / 1e4 };
    const token = await outsideToken({ iss: server.url, ...times });
    await exchange.run({ identity }, token);
    await server[Symbol.asyncDispose]();
    exchange.clock.advance(59 * 60_000);
    assert.equal(await outcome(exchange.run({ identity }, token)), "OK");
    exchange.clock.advance(60_000);
    assert.match(await outcome(exchange.run({ identity }, token)), /^UNAVAILABLE /);
  });

  const refused = /^PERMISSION_DENIED verifying token: oidc: the keys of the issuer cannot be used: /;
  const table: readonly (readonly [rule: string, path: string, answer: Answer, result: RegExp])[] = [
    ["J3: redirects its discovery", discoveryPath, (_, r) => r.writeHead(302, { location: "/o" }).end(), refused],
    ["J3: has its keys on a private address", discoveryPath, keysAt("https://169.254.169.254/keys"), refused],
    ["J6: names another issuer", discoveryPath, { issuer: "https://issuer.example", jwks_uri: "/keys" }, refused],
    ["J5: has a huge document", discoveryPath, (_, r) => r.end(" ".repeat(1 << 20)), refused],
    ["J5: has huge keys", "/keys", (_, r) => r.end(" ".repeat(1 << 20)), refused],
    ["J5: has 10,000 keys", "/keys", { keys: Array(10_000).fill({}) }, refused],
    ["fails", "/keys", (_, r) => r.writeHead(500).end("secret of the upstream"), /^UNAVAILABLE (?!.*secret)/],
    ["has no document", discoveryPath, (_, r) => r.writeHead(404).end("secret of the upstream"), refused],
    [
      "J8: has no usable key",
      "/keys",
      { keys: [{ ...outsideKey.jwk, use: "enc" }] },
      /^PERMISSION_DENIED .* no key of/,
    ],
  ];
  for (const [rule, path, answer, result] of table) {
    it(`the exchange fails for an issuer that ${rule}`, async () => {
      await using server = await startIssuer(outsideKey);
      server.answers[path] = answer;
      const exchange = await openFor(server.url);
      assert.match(await outcome(exchange.run({ identity }, await outsideToken({ iss: server.url }))), result);
      assert.deepEqual(exchange.touched, []);
    });
  }

  it("the exchange fails for an issuer that J5: drips", async () => {
    await using server = await startIssuer(outsideKey);
    server.answers["/keys"] = (_, response) => void response.write("{");
    // A busy machine may end the discovery by it: the result is the same.
    const exchange = await openFor(server.url, { timeoutMs: 200 });
    assert.match(await outcome(exchange.run({ identity }, await outsideToken({ iss: server.url }))), /^UNAVAILABLE /);
    assert.deepEqual(exchange.touched, []);
  });

  it("J2: an issuer that no identity names is not contacted", async () => {
    await using server = await startServer();
    const exchange = await openFor("http://127.0.0.1:1");
    for (const request of [{ identity }, {}]) {
      assert.match(
        await outcome(exchange.run(request, await outsideToken({ iss: server.url }))),
        /^PERMISSION_DENIED /,
      );
    }
    assert.deepEqual(server.requests, []);
  });
});

function keysAt(jwksUri: string): Answer {
  return (request, response) => {
    response.end(JSON.stringify({ issuer: `http://${request.headers.host}`, jwks_uri: jwksUri }));
  };
}
