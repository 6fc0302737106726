import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeProtectedHeader } from "jose";
import { Code } from "../../src/aip/errors.ts";
import type { KeyAlgorithm } from "../../src/authn/signing-key.ts";
import {
  forge,
  goodClaims,
  headerOf,
  isApiError,
  memoryKeyStore,
  type Node,
  openNode,
  plainRequest,
  reasonOf,
  recordOf,
  startTime,
  subject,
  withClaims,
} from "./token-fixtures.ts";

const algorithms: KeyAlgorithm[] = ["RS256", "ES256"];

describe("the cache", () => {
  const limits = {
    entries: 2,
    characters: 1 << 20,
    lifetimeMs: 60_000,
    rejectedEntries: 2,
    rejectedLifetimeMs: 10_000,
  };
  const badToken = (node: Node, claims: object) => withClaims(node, claims).replace(/[^.]+$/, "AAAA");

  it("returns the same value for a known token at once", async () => {
    const { tokens } = await openNode("ES256");
    const { token } = await tokens.issue(plainRequest);
    const first = await tokens.verify(token);
    assert.equal(tokens.verify(token), first);
    assert.deepEqual(tokens.counters, { hits: 1, misses: 1, rejections: 0 });
  });

  it("keeps a verdict for its lifetime and no longer", async () => {
    const { tokens, clock } = await openNode("ES256", { cache: limits });
    const { token } = await tokens.issue(plainRequest);
    await tokens.verify(token);
    clock.advance(59_999);
    await tokens.verify(token);
    assert.deepEqual(tokens.counters, { hits: 1, misses: 1, rejections: 0 });
    clock.advance(1);
    await tokens.verify(token);
    assert.deepEqual(tokens.counters, { hits: 1, misses: 2, rejections: 0 });
  });

  it("never holds a token beyond its expiry", async () => {
    const node = await openNode("ES256", { cache: limits });
    const { token, expiresAt } = await node.tokens.issue({ ...plainRequest, notAfter: startTime + 5000 });
    await node.tokens.verify(token);
    node.clock.advance(expiresAt - startTime - 1);
    assert.equal(await reasonOf(node, token), "accepted");
    assert.equal(node.tokens.counters.hits, 1);
    node.clock.advance(1);
    assert.equal(await reasonOf(node, token), "expired");
  });

  it("remembers the previous token of a connection, and no other", async () => {
    const { tokens, clock } = await openNode("ES256", { cache: limits });
    const [one, other] = await Promise.all([tokens.issue(plainRequest), tokens.issue(plainRequest)]);
    const connection = {};
    assert.equal(tokens.cached(one.token, connection), undefined);
    const first = await tokens.verify(one.token);
    const second = await tokens.verify(other.token);
    assert.notEqual(first, second);
    for (const [token, verified] of [
      [one.token, first],
      [one.token, first],
      [other.token, second],
      [one.token, first],
    ] as const) {
      assert.equal(tokens.cached(token, connection), verified);
    }
    assert.equal(
      tokens.cached(
        one.token.replace(/.$/, (last) => (last === "A" ? "Q" : "A")),
        connection,
      ),
      undefined,
    );
    assert.equal(tokens.cached(one.token, {}), first);
    clock.advance(limits.lifetimeMs);
    assert.equal(tokens.cached(one.token, connection), undefined);
  });

  it("the number of cached tokens is limited", async () => {
    const { tokens } = await openNode("ES256", { cache: limits });
    const issued = await Promise.all([1, 2, 3].map(() => tokens.issue(plainRequest)));
    for (const { token } of [...issued, ...issued]) await tokens.verify(token);
    assert.deepEqual(tokens.counters, { hits: 0, misses: 6, rejections: 0 });
  });

  it("the length of all cached tokens is limited", async () => {
    const { tokens } = await openNode("ES256", { cache: { ...limits, characters: 1000 } });
    const issued = await Promise.all([1, 2].map(() => tokens.issue(plainRequest)));
    for (const { token } of [...issued, ...issued]) await tokens.verify(token);
    assert.deepEqual(tokens.counters, { hits: 0, misses: 4, rejections: 0 });
  });

  it("D8: remembers a bad signature for a while, and spends none on the second try", async () => {
    const node = await openNode("ES256", { cache: limits });
    const bad = badToken(node, {});
    assert.equal(await reasonOf(node, bad), "signature");
    node.clock.advance(9_999);
    assert.equal(await reasonOf(node, bad), "signature");
    assert.deepEqual(node.tokens.counters, { hits: 0, misses: 1, rejections: 2 });
    node.clock.advance(1);
    assert.equal(await reasonOf(node, bad), "signature");
    assert.deepEqual(node.tokens.counters, { hits: 0, misses: 2, rejections: 3 });
  });

  it("D8: loses no good token to a flood of bad ones", async () => {
    const node = await openNode("ES256", { cache: limits });
    const { token } = await node.tokens.issue(plainRequest);
    await node.tokens.verify(token);
    for (let i = 0; i < 10; i++) await reasonOf(node, badToken(node, { jti: String(i) }));
    await node.tokens.verify(token);
    assert.equal(node.tokens.counters.hits, 1);
  });

  it("rejections without a signature check count, too", async () => {
    const node = await openNode("ES256");
    await reasonOf(node, "x");
    await reasonOf(node, ".".repeat(100_000));
    await reasonOf(node, forge(recordOf(node), headerOf(node, { kid: "x" }), goodClaims()));
    assert.equal(node.tokens.counters.rejections, 3);
  });
});

describe("keys that come and go", () => {
  for (const algorithm of algorithms) {
    it(`T13: a token by the previous ${algorithm} key is valid during the overlap and not after`, async () => {
      const { tokens, keys, clock, ...node } = await openNode(algorithm);
      const { token } = await tokens.issue(plainRequest);
      await keys.rotate(600_000);
      const next = await tokens.issue(plainRequest);
      assert.notEqual(decodeProtectedHeader(next.token).kid, decodeProtectedHeader(token).kid);
      clock.advance(599_999);
      assert.equal((await tokens.verify(token)).subject, subject);
      clock.advance(1);
      // From the cache it would be good for a minute more.
      assert.equal(await reasonOf({ tokens, keys, clock, ...node }, token), "unknown-key");
      assert.equal((await tokens.verify(next.token)).subject, subject);
    });
  }

  it("T13: a key retired at once takes the cached verdicts with it", async () => {
    const node = await openNode("ES256");
    const { token } = await node.tokens.issue(plainRequest);
    await node.tokens.verify(token);
    await node.keys.rotate(0);
    assert.equal(await reasonOf(node, token), "unknown-key");
  });

  it("T13: a key retired by another node is out after a refresh", async () => {
    const store = memoryKeyStore();
    const node = await openNode("ES256", { store });
    const other = await openNode("ES256", { store });
    const { token } = await node.tokens.issue(plainRequest);
    await node.tokens.verify(token);
    await other.keys.rotate(0);
    await node.keys.refresh();
    assert.equal(await reasonOf(node, token), "unknown-key");
  });

  it("a token by a key that another node has just made is good here", async () => {
    const store = memoryKeyStore();
    const node = await openNode("ES256", { store });
    const other = await openNode("ES256", { store });
    await other.keys.rotate(3_600_000);
    const { token } = await other.tokens.issue(plainRequest);
    assert.equal(await reasonOf(node, token), "accepted");
  });

  it("T12: a flood of unknown kids reads the store once, and a stranger's claims not even that", async () => {
    const node = await openNode("ES256");
    const good = await node.tokens.issue(plainRequest);
    node.store.reads = 0;
    const foreign = forge(recordOf(node), headerOf(node, { kid: "x" }), goodClaims({ iss: "https://other.example" }));
    assert.equal(await reasonOf(node, foreign), "issuer");
    assert.equal(node.store.reads, 0);
    const signed = (i: number) => forge(recordOf(node), headerOf(node, { kid: `random-${i}` }), goodClaims());
    const flood = Array.from({ length: 200 }, (_, i) => reasonOf(node, signed(i)));
    assert.deepEqual(new Set(await Promise.all(flood)), new Set(["unknown-key"]));
    assert.equal(node.store.reads, 1);
    assert.equal(await reasonOf(node, good.token), "accepted");
  });

  it("an unknown kid is UNAVAILABLE while the store cannot be read, and good again afterwards", async () => {
    const store = memoryKeyStore();
    const node = await openNode("ES256", { store });
    const other = await openNode("ES256", { store });
    await other.keys.rotate(3_600_000);
    const { token } = await other.tokens.issue(plainRequest);
    store.failing = true;
    await assert.rejects(async () => node.tokens.verify(token), isApiError(Code.UNAVAILABLE, /database cannot serve/));
    store.failing = false;
    node.clock.advance(30_000);
    assert.equal(await reasonOf(node, token), "accepted");
    assert.equal(node.tokens.counters.rejections, 0);
  });
});
