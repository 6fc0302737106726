import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { ApiError, Code } from "../../src/aip/errors.ts";
import { type KeyRing, openKeyRing } from "../../src/authn/key-ring.ts";
import { type KeyAlgorithm, newKey } from "../../src/authn/signing-key.ts";
import { newTokens } from "../../src/authn/tokens.ts";
import {
  cooldownMs,
  issuer,
  type MemoryKeyStore,
  memoryKeyStore,
  patienceMs,
  plainRequest,
  startTime,
  subject,
  type TestClock,
  testClock,
} from "./token-fixtures.ts";

const hour = 60 * 60 * 1000;

async function openRing(
  store: MemoryKeyStore,
  clock: TestClock = testClock(),
  algorithm: KeyAlgorithm = "ES256",
  patience = patienceMs,
): Promise<KeyRing> {
  const options = { refreshCooldownMs: cooldownMs, patienceMs: patience, maxAgeMs: 0 };
  return openKeyRing(store, { algorithm, clock: clock.read, ...options });
}

describe("openKeyRing", () => {
  it("makes a first key when the store is empty, and stores it", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store);
    assert.deepEqual(
      store.records.map((record) => record.kid),
      [(await ring.signing("others")).kid],
    );
  });

  it("keeps the key that is there", async () => {
    const record = await newKey("ES256", startTime);
    const store = memoryKeyStore([record]);
    assert.equal((await (await openRing(store)).signing("others")).kid, record.kid);
    assert.deepEqual(store.records, [record]);
  });

  it("makes a key when those in the store are for the other algorithm, which keep verifying for their tokens", async () => {
    const old = await newKey("ES256", startTime);
    const ring = await openRing(memoryKeyStore([old]), testClock(), "RS256");
    assert.equal((await ring.signing("others")).algorithm, "RS256");
    assert.equal(ring.known(old.kid)?.retireTime, startTime + 2 * hour);
  });

  it("makes a key when all in the store are about to retire", async () => {
    const old = { ...(await newKey("ES256", startTime)), retireTime: startTime + 1 };
    assert.notEqual((await (await openRing(memoryKeyStore([old]))).signing("others")).kid, old.kid);
  });

  it("chooses the same key on every node when two were made at the same time", async () => {
    const records = [await newKey("ES256", startTime), await newKey("ES256", startTime)];
    const one = await openRing(memoryKeyStore(records));
    const other = await openRing(memoryKeyStore(records.toReversed()));
    assert.equal((await one.signing("others")).kid, (await other.signing("others")).kid);
  });
});

describe("KeyRing.find", () => {
  it("T12: asks the store about unknown kids at most once per cool-down", async () => {
    const store = memoryKeyStore();
    const clock = testClock();
    const ring = await openRing(store, clock);
    const { kid } = await ring.signing("others");
    store.reads = 0;
    const strangers = Array.from({ length: 1000 }, (_, i) => ring.find(`stranger-${i}`));
    assert.deepEqual(new Set(await Promise.all(strangers)), new Set([undefined]));
    assert.equal(store.reads, 1);
    assert.equal((await ring.find(kid))?.kid, kid);
    clock.advance(cooldownMs - 1);
    await ring.find("stranger");
    assert.equal(store.reads, 1);
    clock.advance(1);
    await ring.find("stranger");
    assert.equal(store.reads, 2);
  });

  it("finds a key that another node has made", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store);
    const other = await openRing(store);
    const { kid } = await other.rotate(hour);
    assert.equal(ring.known(kid), undefined);
    assert.equal((await ring.find(kid))?.kid, kid);
    assert.equal((await ring.signing("others")).kid, kid);
  });

  it("finding an unknown kid is UNAVAILABLE while the store cannot be read, and known keys are still found", async () => {
    const store = memoryKeyStore();
    const clock = testClock();
    const ring = await openRing(store, clock);
    store.failing = true;
    const isUnavailable = (error: unknown) => error instanceof ApiError && error.code === Code.UNAVAILABLE;
    await assert.rejects(ring.find("stranger"), isUnavailable);
    await assert.rejects(ring.find("stranger"), isUnavailable, "within the cool-down too");
    assert.ok(await ring.find((await ring.signing("others")).kid));
    store.failing = false;
    clock.advance(cooldownMs);
    assert.equal(await ring.find("stranger"), undefined);
  });

  it("a key that another node has made is found although an earlier read gets no response", async () => {
    const store = memoryKeyStore();
    const [ring, other] = [await openRing(store, testClock(), "ES256", 20), await openRing(store)];
    const { list } = store;
    const silence = Promise.withResolvers<void>();
    store.list = async () => {
      store.list = list;
      const before = [...store.records];
      await silence.promise;
      return before;
    };
    const silent = ring.refresh();
    await setTimeout(0);
    const { kid } = await other.rotate(hour);
    // The next look, which the node begins by itself.
    await ring.refresh();
    assert.equal((await ring.find(kid))?.kid, kid);
    silence.resolve();
    await silent;
    assert.equal(ring.known(kid)?.kid, kid, "an older view does not replace a newer one");
  });

  it("finding an unknown kid is UNAVAILABLE if the store does not respond in time", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store, testClock(), "ES256", 20);
    store.list = () => new Promise(() => {});
    await assert.rejects(ring.find("stranger"), (error: unknown) => {
      return error instanceof ApiError && error.code === Code.UNAVAILABLE;
    });
  });
});

describe("KeyRing.signing", () => {
  it("signing uses a key that another node has rotated to, at once", async () => {
    const store = memoryKeyStore();
    const [ring, other] = [await openRing(store), await openRing(store)];
    const { kid } = await other.rotate(0);
    assert.equal((await ring.signing("others")).kid, kid);
  });

  it("signing ignores a read that began before the rotation", async () => {
    const store = memoryKeyStore();
    const [ring, other] = [await openRing(store), await openRing(store)];
    const rotated = Promise.withResolvers<void>();
    const { list } = store;
    store.list = async () => {
      store.list = list;
      const before = [...store.records];
      await rotated.promise;
      return before;
    };
    const early = ring.refresh();
    // The read of the refresh is under way.
    await Promise.resolve();
    await Promise.resolve();
    const { kid } = await other.rotate(0);
    const signing = ring.signing("others");
    rotated.resolve();
    await early;
    assert.equal((await signing).kid, kid);
  });

  it("signing reads the store once its keys are older than the limit, and callers share the read", async () => {
    const store = memoryKeyStore();
    const options = { algorithm: "ES256", refreshCooldownMs: cooldownMs, patienceMs, maxAgeMs: 200 } as const;
    const ring = await openKeyRing(store, { ...options, clock: testClock().read });
    const { kid } = await (await openRing(store)).rotate(0);
    store.reads = 0;
    await setTimeout(210);
    const keys = await Promise.all(Array.from({ length: 1000 }, () => ring.signing("others")));
    assert.deepEqual(new Set(keys.map((key) => key.kid)), new Set([kid]));
    assert.equal(store.reads, 1);
  });

  it("signing uses the known key while the store cannot be read", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store);
    const { kid } = await ring.signing("others");
    store.failing = true;
    assert.equal((await ring.signing("others")).kid, kid);
  });

  it("signing uses the known key while the store does not respond, and the stored key afterwards", async () => {
    const store = memoryKeyStore();
    const [ring, other] = [await openRing(store, testClock(), "ES256", 1), await openRing(store)];
    const { kid } = await ring.signing("others");
    const answered = Promise.withResolvers<void>();
    const { list } = store;
    store.list = async () => {
      await answered.promise;
      return await list.call(store);
    };
    assert.equal((await ring.signing("others")).kid, kid);
    store.list = list;
    const rotated = await other.rotate(0);
    answered.resolve();
    await ring.refresh();
    assert.equal((await ring.signing("others")).kid, rotated.kid);
  });
});

describe("KeyRing.rotate", () => {
  it("T13: signs with the new key at once and verifies by the old one until the overlap ends", async () => {
    const clock = testClock();
    const store = memoryKeyStore();
    const ring = await openRing(store, clock);
    const old = (await ring.signing("others")).kid;
    clock.advance(1000);
    const { kid } = await ring.rotate(hour);
    assert.equal((await ring.signing("others")).kid, kid);
    assert.deepEqual(
      ring.jwks().keys.map((key) => key.kid),
      [kid, old],
    );
    clock.advance(hour - 1);
    assert.equal((await ring.find(old))?.kid, old);
    clock.advance(1);
    assert.equal(await ring.find(old), undefined);
    assert.equal(ring.known(old), undefined);
    assert.deepEqual(
      ring.jwks().keys.map((key) => key.kid),
      [kid],
    );
  });

  it("finding a kid that is known to be retired does not read the store", async () => {
    const store = memoryKeyStore();
    const clock = testClock();
    const ring = await openRing(store, clock);
    const old = (await ring.signing("others")).kid;
    await ring.rotate(1);
    store.reads = 0;
    clock.advance(1);
    assert.equal(await ring.find(old), undefined);
    assert.equal(store.reads, 0);
  });

  it("retires a leaked key at once when there is no overlap", async () => {
    const ring = await openRing(memoryKeyStore());
    const old = (await ring.signing("others")).kid;
    await ring.rotate(0);
    assert.equal(ring.known(old), undefined);
  });

  it("changes the generation whenever keys change, and only then", async () => {
    const ring = await openRing(memoryKeyStore());
    const first = ring.generation;
    await ring.refresh();
    assert.equal(ring.generation, first);
    await ring.rotate(hour);
    const second = ring.generation;
    assert.notEqual(second, first);
    await ring.rotate(0);
    assert.notEqual(ring.generation, second);
  });

  it("changes the generation when nothing but a time to retire changes", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store);
    const { generation } = ring;
    store.records = store.records.map((record) => ({ ...record, retireTime: startTime + hour }));
    await ring.refresh();
    assert.equal(ring.generation, generation + 1);
    assert.equal(ring.known(store.records[0]?.kid ?? "")?.retireTime, startTime + hour);
  });

  it("a rotation is not undone by a read that began before it and ends after it", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store);
    const added = Promise.withResolvers<void>();
    const { list, add } = store;
    store.list = async () => {
      store.list = list;
      const before = [...store.records];
      await added.promise;
      return before;
    };
    store.add = async (...record) => {
      await add.apply(store, record);
      setImmediate(added.resolve);
    };
    const refreshed = ring.refresh();
    const { kid } = await ring.rotate(hour);
    await refreshed;
    assert.equal((await ring.signing("others")).kid, kid);
  });

  for (const overlap of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`rejects an overlap of ${overlap}`, async () => {
      const ring = await openRing(memoryKeyStore());
      await assert.rejects(ring.rotate(overlap), /overlapMs: must be 0 or more/);
    });
  }
});

describe("KeyRing.jwks", () => {
  const members: [KeyAlgorithm, string[]][] = [
    ["RS256", ["alg", "e", "kid", "kty", "n", "use"]],
    ["ES256", ["alg", "crv", "kid", "kty", "use", "x", "y"]],
  ];
  for (const [algorithm, expected] of members) {
    it(`publishes nothing but public members for ${algorithm}`, async () => {
      const ring = await openRing(memoryKeyStore(), testClock(), algorithm);
      const [key, ...more] = ring.jwks().keys.filter(({ alg }) => alg === algorithm);
      assert.ok(key);
      assert.deepEqual(more, []);
      assert.deepEqual(Object.keys(key).sort(), expected);
      assert.deepEqual([key.use, key.alg, key.kid], ["sig", algorithm, (await ring.signing("others")).kid]);
    });
  }
});

describe("a token is verified", () => {
  it("verification rejects a key that another node retired, even if the store responds late", async () => {
    const store = memoryKeyStore();
    const options = { algorithm: "ES256", refreshCooldownMs: cooldownMs, patienceMs: 50, maxAgeMs: 10 } as const;
    const clock = testClock();
    const keys = await openKeyRing(store, { ...options, clock: clock.read });
    const other = await openRing(store, clock);
    const tokens = newTokens({ issuer, audiences: [issuer], keys, clock: clock.read });
    const { token } = await tokens.issue(plainRequest);
    assert.equal((await tokens.verify(token)).subject, subject);
    await other.rotate(0);
    await setTimeout(20);
    assert.equal(tokens.cached(token), undefined);
    await assert.rejects(async () => await tokens.verify(token), { reason: "unknown-key" });
  });

  it("verification is UNAVAILABLE while the store does not respond", async () => {
    const store = memoryKeyStore();
    const options = { algorithm: "ES256", refreshCooldownMs: cooldownMs, patienceMs: 20, maxAgeMs: 10 } as const;
    const clock = testClock();
    const keys = await openKeyRing(store, { ...options, clock: clock.read });
    const tokens = newTokens({ issuer, audiences: [issuer], keys, clock: clock.read });
    const { token } = await tokens.issue(plainRequest);
    store.list = () => new Promise(() => {});
    await setTimeout(20);
    await assert.rejects(
      async () => await tokens.verify(token),
      (error: unknown) => {
        return error instanceof ApiError && error.code === Code.UNAVAILABLE;
      },
    );
  });
});

describe("the key for tokens of this service alone", () => {
  const day = 24 * hour;
  const algorithmsOf = (ring: KeyRing) => ring.jwks().keys.map(({ alg }) => alg);

  it("the key for own tokens is made with that for others, signs with ES256, and ends after 400 days", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store, testClock(), "RS256");
    const [own, others] = [await ring.signing("own"), await ring.signing("others")];
    assert.deepEqual([own.algorithm, others.algorithm], ["ES256", "RS256"]);
    assert.equal(ring.known(own.kid)?.retireTime, startTime + 400 * day);
    assert.equal(store.records.length, 2);
  });

  it("one key signs all tokens where those for others have ES256, too", async () => {
    const store = memoryKeyStore();
    const ring = await openRing(store);
    assert.equal((await ring.signing("own")).kid, (await ring.signing("others")).kid);
    assert.equal(store.records.length, 1);
  });

  it("a key for own tokens is added to the key of a release before, which stays", async () => {
    const before = await newKey("RS256", startTime);
    const ring = await openRing(memoryKeyStore([before]), testClock(), "RS256");
    assert.deepEqual(algorithmsOf(ring).sort(), ["ES256", "RS256"]);
    assert.equal(ring.known(before.kid)?.retireTime, undefined);
  });

  it("the key for own tokens is replaced 30 days before its end, and verifies until then", async () => {
    const clock = testClock();
    const ring = await openRing(memoryKeyStore(), clock, "RS256");
    const { kid } = await ring.signing("own");
    // Its last token must end before it.
    clock.advance(370 * day - hour - 1);
    await ring.refresh();
    assert.equal((await ring.signing("own")).kid, kid);
    clock.advance(1);
    await ring.refresh();
    assert.notEqual((await ring.signing("own")).kid, kid);
    assert.ok(ring.known(kid));
  });

  it("the key for own tokens is made again within an hour after a server of a release before has rotated the keys; that for others signs until then", async () => {
    const clock = testClock();
    const store = memoryKeyStore();
    const ring = await openRing(store, clock, "RS256");
    const { kid } = await ring.signing("own");
    clock.advance(2 * hour);
    // It knows one key only, and retires all others.
    await store.add([await newKey("RS256", clock.read())], clock.read() + 2 * hour);
    await ring.refresh();
    const next = await ring.signing("own");
    assert.notEqual(next.kid, kid);
    await store.add([await newKey("RS256", clock.read())], clock.read());
    await ring.refresh();
    assert.equal((await ring.signing("own")).algorithm, "RS256");
    clock.advance(hour);
    await ring.refresh();
    assert.equal((await ring.signing("own")).algorithm, "ES256");
  });

  it("tokens for the API and the registry have ES256; tokens for others as well have the algorithm of others", async () => {
    const clock = testClock();
    const keys = await openRing(memoryKeyStore(), clock, "RS256");
    const ownAudiences = [issuer, "registry.example"];
    const tokens = newTokens({ issuer, audiences: [issuer], ownAudiences, keys, clock: clock.read });
    for (const [audience, alg] of [
      [[issuer], "ES256"],
      [ownAudiences, "ES256"],
      [["https://other.example"], "RS256"],
      [[issuer, "https://other.example"], "RS256"],
    ] as const) {
      const { token } = await tokens.issue({ ...plainRequest, audience });
      assert.equal(JSON.parse(atob(token.split(".")[0]!)).alg, alg, audience.join(" "));
    }
  });
});
