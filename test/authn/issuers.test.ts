import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultIssuersLimits, type IssuersLimits, openIssuers } from "../../src/authn/issuers.ts";
import { maxKeys } from "../../src/authn/key-sets.ts";
import { OutboundError, type OutboundFailure } from "../../src/outbound/error.ts";
import {
  type Answer,
  discoveryPath,
  fetchLoopback,
  keyPair,
  keySetText,
  network,
  type OutsideKeyPair,
  startIssuer,
  startServer,
} from "../sts/outside.ts";
import { type TestClock, testClock } from "./token-fixtures.ts";

const [es256, next] = [keyPair("ES256"), keyPair("ES256", "next")];
const minute = 60_000;

function open(fetchJson: (url: string) => Promise<unknown>, clock: TestClock, limits: Partial<IssuersLimits> = {}) {
  const options = { fetchJson, clock: clock.read, limits: { ...defaultIssuersLimits, ...limits } };
  return openIssuers({ ...options, allowInsecureIssuers: true });
}

function failsAs(failure: OutboundFailure, message: RegExp) {
  return (error: unknown) => error instanceof OutboundError && error.failure === failure && message.test(error.message);
}

async function kidsOf(issuers: ReturnType<typeof open>, issuer: string, ...kids: readonly string[]) {
  const keys = await issuers.keysFor(issuer);
  const found = await Promise.all(kids.map((kid) => keys.find({ alg: "ES256", kid })));
  return kids.filter((_, index) => found[index]!.length > 0);
}

describe("the keys of an issuer", () => {
  it("the keys of an issuer are discovered once and kept for ten minutes", async () => {
    await using server = await startIssuer(es256);
    const clock = testClock();
    const issuers = open(fetchLoopback(), clock);
    assert.deepEqual(await kidsOf(issuers, server.url, es256.kid), [es256.kid]);
    clock.advance(10 * minute - 1);
    assert.deepEqual(await kidsOf(issuers, server.url, es256.kid), [es256.kid]);
    assert.deepEqual(server.requests, [discoveryPath, "/keys"]);
    clock.advance(1);
    await issuers.keysFor(server.url);
    assert.deepEqual(server.requests, [discoveryPath, "/keys", discoveryPath, "/keys"]);
  });

  it("J9: the keys of an issuer are fetched once, however many ask at the same time", async () => {
    await using server = await startIssuer(es256);
    const issuers = open(fetchLoopback(), testClock());
    await Promise.all(Array.from({ length: 20 }, () => issuers.keysFor(server.url)));
    assert.deepEqual(server.requests, [discoveryPath, "/keys"]);
  });

  it("T12: the keys of an issuer are fetched again for an unknown kid at once, and for others once per cool-down", async () => {
    await using server = await startIssuer(es256);
    const clock = testClock();
    const issuers = open(fetchLoopback(), clock);
    await issuers.keysFor(server.url);
    server.answers["/keys"] = JSON.parse(keySetText(es256, next));
    assert.deepEqual(await kidsOf(issuers, server.url, next.kid), [next.kid]);
    assert.equal(server.requests.length, 4);
    assert.deepEqual(await kidsOf(issuers, server.url, "random-1", "random-2", es256.kid), [es256.kid]);
    clock.advance(29_999);
    assert.deepEqual(await kidsOf(issuers, server.url, "random-3"), []);
    assert.equal(server.requests.length, 4);
    clock.advance(1);
    assert.deepEqual(await kidsOf(issuers, server.url, "random-4", "random-5"), []);
    assert.equal(server.requests.length, 6);
  });

  it("concurrent tokens with a new key share one fetch", async () => {
    await using server = await startIssuer(es256);
    const issuers = open(fetchLoopback(), testClock());
    await issuers.keysFor(server.url);
    server.answers["/keys"] = JSON.parse(keySetText(es256, next));
    assert.deepEqual(await kidsOf(issuers, server.url, next.kid, next.kid, next.kid), [next.kid, next.kid, next.kid]);
    assert.equal(server.requests.length, 4);
  });

  it("J9: cached keys serve for an hour while the issuer is down, then they are UNAVAILABLE", async () => {
    const server = await startIssuer(es256);
    const clock = testClock();
    const issuers = open(fetchLoopback(), clock);
    await issuers.keysFor(server.url);
    await server[Symbol.asyncDispose]();
    clock.advance(60 * minute - 1);
    assert.deepEqual(await kidsOf(issuers, server.url, es256.kid), [es256.kid]);
    clock.advance(1);
    await assert.rejects(issuers.keysFor(server.url), failsAs("unavailable", /./));
  });

  it("J9: the keys of an issuer are UNAVAILABLE for an unknown kid while the issuer is down", async () => {
    const server = await startIssuer(es256);
    const issuers = open(fetchLoopback(), testClock());
    const keys = await issuers.keysFor(server.url);
    await server[Symbol.asyncDispose]();
    await assert.rejects(keys.find({ alg: "ES256", kid: next.kid }), failsAs("unavailable", /./));
    assert.equal((await keys.find({ alg: "ES256", kid: es256.kid })).length, 1);
  });

  it("J9: the keys of an issuer are asked for again 1, 2, 4, 8, 16, 30 and 30 s after failures in a row, and at once after a success", async () => {
    await using server = await startIssuer(es256);
    const { [discoveryPath]: document } = server.answers;
    server.answers[discoveryPath] = (_request, response) => response.writeHead(500).end();
    const clock = testClock();
    const issuers = open(fetchLoopback(), clock);
    const fails = () => assert.rejects(issuers.keysFor(server.url), failsAs("unavailable", /failure/));
    await fails();
    for (const [index, seconds] of [1, 2, 4, 8, 16, 30, 30].entries()) {
      clock.advance(seconds * 1000 - 1);
      await fails();
      assert.equal(server.requests.length, index + 1);
      clock.advance(1);
      await fails();
      assert.equal(server.requests.length, index + 2);
    }
    server.answers[discoveryPath] = document!;
    clock.advance(30_000);
    assert.deepEqual(await kidsOf(issuers, server.url, es256.kid, "random"), [es256.kid]);
    server.answers[discoveryPath] = (_request, response) => response.writeHead(500).end();
    clock.advance(60 * minute);
    await fails();
    server.answers[discoveryPath] = document!;
    clock.advance(1000);
    assert.deepEqual(await kidsOf(issuers, server.url, es256.kid), [es256.kid]);
  });

  it("keys are dropped when the issuer responds with something else", async () => {
    await using server = await startIssuer(es256);
    const clock = testClock();
    const issuers = open(fetchLoopback(), clock);
    await issuers.keysFor(server.url);
    server.answers["/keys"] = { keys: "none" };
    clock.advance(10 * minute);
    await assert.rejects(issuers.keysFor(server.url), failsAs("refused", /not a key set/));
  });

  it("the least recently used issuers are evicted", async () => {
    const [a, b, c] = ["https://a.example", "https://b.example", "https://c.example"];
    const outside = network([a!, b!, c!], es256);
    const issuers = open(outside.fetchJson, testClock(), { maxIssuers: 2 });
    for (const issuer of [a, b, c, b, a]) await issuers.keysFor(issuer!);
    const asked = outside.requests.filter((url) => url.endsWith(discoveryPath)).map((url) => new URL(url).origin);
    assert.deepEqual(asked, [a, b, c, a]);
  });

  it("the keys of an issuer are UNAVAILABLE while too many issuers are being asked, and this failure is not cached", async () => {
    const outside = network(["https://a.example", "https://b.example"], es256);
    const issuers = open(outside.fetchJson, testClock(), { maxFetches: 1 });
    const first = issuers.keysFor("https://a.example");
    await assert.rejects(issuers.keysFor("https://b.example"), failsAs("unavailable", /too many/));
    await first;
    await issuers.keysFor("https://b.example");
  });
});

describe("keys that were replaced", () => {
  const noKid = (pair: OutsideKeyPair) => ({ keys: [{ ...pair.jwk, kid: undefined }] });
  const sameKid = (pair: OutsideKeyPair) => ({ keys: [{ ...pair.jwk, kid: es256.kid }] });
  const { kid } = es256;

  /** Returns an issuer whose keys are cached. */
  async function cached(keys: object) {
    const server = await startIssuer();
    server.answers["/keys"] = keys;
    const clock = testClock();
    const issuers = open(fetchLoopback(), clock);
    await issuers.keysFor(server.url);
    const newer = async (hint: { alg: string; kid: string | undefined } = { alg: "ES256", kid }) => {
      const set = await issuers.keysFor(server.url);
      await set.find(hint);
      return (await set.findNewer?.(hint))?.map((key) => key.export({ format: "jwk" }).x);
    };
    return { server, clock, issuers, newer, fetches: () => server.requests.filter((one) => one === "/keys").length };
  }

  it("replaced keys under the same kid are found at once, every time", async () => {
    await using stack = new AsyncDisposableStack();
    const { server, newer, fetches } = await cached(sameKid(es256));
    stack.use(server);
    for (const name of ["a", "b", "c"]) {
      const pair = keyPair("ES256", name);
      server.answers["/keys"] = sameKid(pair);
      assert.deepEqual(await newer(), [pair.jwk.x]);
    }
    assert.equal(fetches(), 4);
  });

  it("replaced keys without a kid are found at once", async () => {
    await using stack = new AsyncDisposableStack();
    const { server, newer } = await cached(noKid(es256));
    stack.use(server);
    server.answers["/keys"] = noKid(next);
    assert.deepEqual(await newer({ alg: "ES256", kid: undefined }), [next.jwk.x]);
  });

  it("T12: new keys are fetched once in 30 s for signatures that no known key verifies, whether these come together or one by one", async () => {
    await using stack = new AsyncDisposableStack();
    const { server, clock, newer, fetches } = await cached(sameKid(es256));
    stack.use(server);
    await Promise.all(Array.from({ length: 10 }, () => newer()));
    for (let round = 0; round < 10; round++) assert.deepEqual(await newer(), []);
    assert.equal(fetches(), 2);
    clock.advance(29_999);
    await newer();
    assert.equal(fetches(), 2);
    clock.advance(1);
    server.answers["/keys"] = sameKid(next);
    assert.deepEqual(await newer(), [next.jwk.x]);
    assert.equal(fetches(), 3);
  });

  it("new keys are fetched for a signature that no known key verifies, even just after a fetch for random kids", async () => {
    await using stack = new AsyncDisposableStack();
    const { server, issuers, newer } = await cached(sameKid(es256));
    stack.use(server);
    await kidsOf(issuers, server.url, "random-1", "random-2");
    server.answers["/keys"] = sameKid(next);
    assert.deepEqual(await newer(), [next.jwk.x]);
  });

  it("new keys are not fetched again for a token for which they were just fetched", async () => {
    await using server = await startIssuer(es256);
    const set = await open(fetchLoopback(), testClock()).keysFor(server.url);
    assert.deepEqual(await set.findNewer?.({ alg: "ES256", kid }), []);
    assert.deepEqual(server.requests, [discoveryPath, "/keys"]);
  });

  it("new keys are UNAVAILABLE while the issuer is down, and fetched again after 1, 2, 4 … 30 s; cached keys still verify", async () => {
    const { server, clock, issuers, newer } = await cached(sameKid(es256));
    await server[Symbol.asyncDispose]();
    await assert.rejects(newer(), failsAs("unavailable", /./));
    await assert.rejects(newer(), failsAs("unavailable", /./));
    assert.deepEqual(await kidsOf(issuers, server.url, kid), [kid]);
    clock.advance(1000);
    await assert.rejects(newer(), failsAs("unavailable", /./));
  });
});

describe("the issuers of one host", () => {
  const [victim, slow] = ["https://victim.example", "https://slow.example"];

  /** Returns a network where a host does not answer before it is told to; it tells how many of its issuers are being asked. */
  function withSlowHost(...issuers: readonly string[]) {
    const outside = network([victim, ...issuers], es256);
    const asked: (() => void)[] = [];
    const fetchJson = async (url: string) => {
      if (url.startsWith(slow)) await new Promise<void>((resolve) => asked.push(resolve));
      return await outside.fetchJson(url);
    };
    return { ...outside, fetchJson, asked };
  }
  const named = (count: number) => Array.from({ length: count }, (_, index) => `${slow}/${index}`);
  const settle = (promises: readonly Promise<unknown>[]) => Promise.allSettled(promises);

  it("J2: issuers that do not respond do not delay requests to others", async () => {
    const outside = withSlowHost();
    const issuers = open(outside.fetchJson, testClock(), { maxFetches: 3, maxWaitingOfHost: 2 });
    const stuck = named(5).map((issuer) => issuers.keysFor(issuer));
    await assert.rejects(stuck[4]!, failsAs("unavailable", /too many issuers of this host/));
    assert.equal(outside.asked.length, 2);
    assert.deepEqual(await kidsOf(issuers, victim, es256.kid), [es256.kid]);
    const settled = settle(stuck);
    while (outside.asked.length > 0) {
      outside.asked.shift()!();
      await new Promise(setImmediate);
    }
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      Array(5).fill("rejected"),
    );
  });

  it("all ports of a host count as one host, except on this machine", async () => {
    const asked: string[] = [];
    const fetchJson = (url: string) => {
      asked.push(new URL(url).origin);
      return new Promise<never>(() => {});
    };
    const issuers = open(fetchJson, testClock(), { maxWaitingOfHost: 0 });
    for (const port of [1, 2]) void issuers.keysFor(`${slow}:${port}`);
    await assert.rejects(issuers.keysFor(`${slow}:3`), failsAs("unavailable", /of this host/));
    for (const port of [1, 2, 3]) void issuers.keysFor(`http://127.0.0.1:${port}`);
    await new Promise(setImmediate);
    assert.equal(asked.length, 5);
  });

  it("issuers of one host are asked two at a time, in order", async () => {
    const outside = withSlowHost(...named(4));
    const issuers = open(outside.fetchJson, testClock());
    const found = settle(named(4).map((issuer) => issuers.keysFor(issuer)));
    const most: number[] = [];
    await new Promise(setImmediate);
    while (outside.asked.length > 0) {
      most.push(outside.asked.length);
      outside.asked.shift()!();
      await new Promise(setImmediate);
    }
    assert.deepEqual(
      (await found).map(({ status }) => status),
      Array(4).fill("fulfilled"),
    );
    assert.equal(Math.max(...most), 2);
  });

  it("J9: known issuers are contacted, regardless of the number of unknown ones that do not respond", async () => {
    const outside = withSlowHost();
    const clock = testClock();
    const issuers = open(outside.fetchJson, clock, { maxFetches: 1 });
    await issuers.keysFor(victim);
    const stuck = settle([issuers.keysFor(`${slow}/0`)]);
    clock.advance(10 * minute);
    outside.requests.length = 0;
    assert.deepEqual(await kidsOf(issuers, victim, es256.kid), [es256.kid]);
    assert.equal(outside.requests.length, 2);
    outside.asked.shift()!();
    await stuck;
  });

  it("J9: serve with the keys in store while too many others are being asked", async () => {
    const outside = network([victim, slow], es256);
    let answer = Promise.resolve();
    const fetchJson = async (url: string) => {
      if (url.startsWith(slow)) await answer;
      return await outside.fetchJson(url);
    };
    const clock = testClock();
    const issuers = open(fetchJson, clock, { maxFetches: 1 });
    for (const issuer of [victim, slow]) await issuers.keysFor(issuer);
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = promise;
    clock.advance(10 * minute);
    const stuck = issuers.keysFor(slow);
    assert.deepEqual(await kidsOf(issuers, victim, es256.kid), [es256.kid]);
    clock.advance(50 * minute);
    await assert.rejects(issuers.keysFor(victim), failsAs("unavailable", /too many/));
    resolve();
    await stuck;
  });

  it("issuers without keys do not evict issuers with keys", async () => {
    const outside = network([victim], es256);
    outside.documents.set(`${slow}/0${discoveryPath}`, { issuer: `${slow}/0`, jwks_uri: `${slow}/0/keys` });
    outside.documents.set(`${slow}/0/keys`, { keys: [] });
    const issuers = open(outside.fetchJson, testClock(), { maxIssuers: 2, maxUnknownIssuers: 2 });
    await issuers.keysFor(victim);
    for (const issuer of named(10)) await settle([issuers.keysFor(issuer)]);
    outside.requests.length = 0;
    await issuers.keysFor(victim);
    assert.deepEqual(outside.requests, []);
    // Of those, too, the latest are remembered.
    await settle([issuers.keysFor(`${slow}/9`), issuers.keysFor(`${slow}/1`)]);
    assert.deepEqual(outside.requests, [`${slow}/1${discoveryPath}`]);
  });
});

describe("discovery", () => {
  it("J3: finds keys on another https host", async () => {
    const outside = network(["https://issuer.example"]);
    outside.documents.set("https://issuer.example/.well-known/openid-configuration", {
      issuer: "https://issuer.example",
      jwks_uri: "https://keys.example/all",
    });
    outside.documents.set("https://keys.example/all", JSON.parse(keySetText(es256)));
    const issuers = open(outside.fetchJson, testClock());
    assert.deepEqual(await kidsOf(issuers, "https://issuer.example", es256.kid), [es256.kid]);
  });

  it("discovery keeps the trailing slash of an issuer in the issuer, but not in the path", async () => {
    const outside = network(["https://issuer.example/tenant/"], es256);
    await open(outside.fetchJson, testClock()).keysFor("https://issuer.example/tenant/");
    assert.equal(outside.requests[0], "https://issuer.example/tenant/.well-known/openid-configuration");
    const without = open(outside.fetchJson, testClock()).keysFor("https://issuer.example/tenant");
    await assert.rejects(without, failsAs("refused", /another issuer/));
  });

  it("J3: discovery never leads from an https issuer to this machine", async () => {
    const outside = network(["https://issuer.example"], es256);
    outside.documents.set("https://issuer.example/.well-known/openid-configuration", {
      issuer: "https://issuer.example",
      jwks_uri: "http://127.0.0.1:8080/keys",
    });
    const promise = open(outside.fetchJson, testClock()).keysFor("https://issuer.example");
    await assert.rejects(promise, failsAs("refused", /not https/));
    assert.equal(outside.requests.length, 1);
  });

  const named = (issuer: unknown) => (url: string) => ({ issuer: issuer ?? url, jwks_uri: `${url}/keys` });
  const table: readonly (readonly [rule: string, document: (url: string) => unknown, message: RegExp])[] = [
    ["J6: another issuer", named("https://other.example"), /another issuer/],
    ["J6: the issuer with a slash more", (url) => named(`${url}/`)(url), /another issuer/],
    ["J6: the issuer in other letters", (url) => named(url.toUpperCase())(url), /another issuer/],
    ["no issuer", (url) => ({ jwks_uri: `${url}/keys` }), /another issuer/],
    ["no keys", (url) => ({ issuer: url }), /names no keys/],
    ["keys that are not a URL", (url) => ({ issuer: url, jwks_uri: "keys" }), /not a URL/],
    ["keys on a private address", (url) => ({ issuer: url, jwks_uri: "https://10.0.0.1/keys" }), /not public/],
    ["keys by plain http elsewhere", (url) => ({ issuer: url, jwks_uri: "http://keys.example/" }), /not https/],
    ["an array", () => [], /another issuer/],
    ["null", () => null, /another issuer/],
    ["text", () => "issuer", /another issuer/],
  ];
  for (const [rule, document, message] of table) {
    it(`discovery is rejected where the document has ${rule}`, async () => {
      await using server = await startIssuer(es256);
      const text = JSON.stringify(document(server.url));
      server.answers[discoveryPath] = (_request, response) => response.end(text);
      await assert.rejects(open(fetchLoopback(), testClock()).keysFor(server.url), failsAs("refused", message));
    });
  }

  const keySets: readonly (readonly [rule: string, keys: Answer, message: RegExp])[] = [
    ["J3: redirect", (_, r) => r.writeHead(302, { location: "/other" }).end(), /redirect/],
    ["J5: are more than the cap", { keys: Array.from({ length: maxKeys + 1 }, () => es256.jwk) }, /acceptable size/],
    ["J5: are 1 MiB", (_, r) => r.end(" ".repeat(1 << 20)), /longer/],
    ["are a bare array", [es256.jwk], /not a key set/],
    ["are not a set", { keys: { 0: es256.jwk } }, /not a key set/],
  ];
  for (const [rule, keys, message] of keySets) {
    it(`discovery is rejected where the keys ${rule}`, async () => {
      await using server = await startIssuer();
      server.answers["/keys"] = keys;
      server.answers["/other"] = JSON.parse(keySetText(es256));
      await assert.rejects(open(fetchLoopback(), testClock()).keysFor(server.url), failsAs("refused", message));
    });
  }

  it("J5: discovery of an issuer that sends one byte at a time is UNAVAILABLE", async () => {
    await using server = await startServer({ [discoveryPath]: (_request, response) => void response.write("{") });
    const issuers = open(fetchLoopback({ timeoutMs: 200 }), testClock());
    await assert.rejects(issuers.keysFor(server.url), failsAs("unavailable", /in time/));
  });
});
