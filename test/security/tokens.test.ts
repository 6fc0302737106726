// T: access tokens, as the whole server judges them.
import assert from "node:assert/strict";
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import type { KeyRecord } from "../../src/authn/signing-key.ts";
import { systemClock } from "../../src/base/clock.ts";
import { limits } from "../../src/server/limits.ts";
import { keyStore } from "../../src/storage/installation/signing-keys.ts";
import { forge, segment } from "../authn/token-fixtures.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { keyPair, signOutside } from "../sts/outside.ts";
import { codeOf, type Ground, openGround, turnableClock } from "./ground.ts";
import { addCaller, viewerRole } from "./tree.ts";

after(stopPostgres);

describe("an access token over the wire", () => {
  const clock = turnableClock();
  let ground: Ground;
  let record: KeyRecord;
  before(async () => {
    ground = await openGround({ clock: clock.read });
    [record] = (await keyStore(ground.server.server.database, ground.server.server.encryption, systemClock).list()) as [
      KeyRecord,
    ];
  });
  after(() => ground[Symbol.asyncDispose]());

  const now = () => Math.floor(clock.read() / 1000);
  const header = (changes: object = {}) => ({ alg: record.algorithm, kid: record.kid, typ: "JWT", ...changes });
  const claims = (changes: object = {}) => ({
    iss: ground.server.config.baseUrl,
    sub: ground.server.ownerUid,
    aud: ground.server.config.baseUrl,
    iat: now(),
    exp: now() + 600,
    jti: "1",
    act: { iss: "i", sub: "s", aud: "a" },
    cap: {},
    ...changes,
  });
  const withClaims = (changes: object) => forge(record, header(), claims(changes));
  const withHeader = (changes: object) => forge(record, header(changes), claims());
  const publicPem = () => {
    const key = createPrivateKey({ key: JSON.parse(record.privateJwk), format: "jwk" });
    return createPublicKey(key).export({ type: "spki", format: "pem" });
  };
  const hmac = () => {
    const input = `${segment(header({ alg: "HS256" }))}.${segment(claims())}`;
    return `${input}.${createHmac("sha256", publicPem()).update(input).digest("base64url")}`;
  };
  const foreign = () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = privateKey.export({ format: "jwk" });
    const { d: _d, ...shown } = jwk;
    return forge({ ...record, privateJwk: JSON.stringify(jwk) }, header({ jwk: shown }), claims());
  };

  it("is accepted if valid: each case below changes one part", async () => {
    assert.equal(codeOf(await ground.everywhere(withClaims({}), "GroupsService/ListGroups", {})), "OK");
  });

  const refused: Readonly<Record<string, () => string | Promise<string>>> = {
    "T1: alg none": () => `${segment(header({ alg: "none" }))}.${segment(claims())}.`,
    "T1: alg nOnE with a signature": () => withHeader({ alg: "nOnE" }),
    "T1: an empty signature": () => withClaims({}).replace(/[^.]+$/, ""),
    "T2: an HMAC keyed with our public key as PEM": hmac,
    "T3: the key that signed it in its own header": foreign,
    "T3: a header that names a foreign key set": () => withHeader({ jku: "https://evil.example/keys" }),
    "T4: another audience": () => withClaims({ aud: "https://other.example" }),
    "T4: no audience": () => withClaims({ aud: undefined }),
    "T4: an empty audience": () => withClaims({ aud: "" }),
    "T4: audiences that only begin like ours": () => withClaims({ aud: [ground.server.config.baseUrl.slice(0, -1)] }),
    "T5: another issuer": () => withClaims({ iss: "https://other.example" }),
    "T5: no issuer": () => withClaims({ iss: undefined }),
    "T5: our issuer with a slash behind it": () => withClaims({ iss: `${ground.server.config.baseUrl}/` }),
    "T5: our issuer in upper case": () => withClaims({ iss: ground.server.config.baseUrl.toUpperCase() }),
    "T6: expired": () => withClaims({ exp: now() - 1 }),
    "T6: no expiry": () => withClaims({ exp: undefined }),
    "T6: an expiry as text": () => withClaims({ exp: String(now() + 600) }),
    "T6: an expiry beyond all time": () => withClaims({ exp: 1e308 }),
    "T6: a negative expiry": () => withClaims({ exp: -1 }),
    "T6: not yet valid": () => withClaims({ nbf: now() + 600 }),
    "T6: issued in the future": () => withClaims({ iat: now() + 600 }),
    "T7: a token of an outside issuer": () =>
      signOutside(keyPair("RS256"), { iss: "https://issuer.example.org", sub: "owner", exp: now() + 600 }),
    "T8: cut short by a character": () => withClaims({}).slice(0, -1),
    "T8: with a character behind it": () => `${withClaims({})}A`,
    "T8: with padding": () => `${withClaims({})}=`,
    "T9: nothing but dots": () => ".".repeat(8000),
    "T9: many segments": () => "a.".repeat(4000),
    "T10: encrypted, with PBES2": () =>
      [{ alg: "PBES2-HS256+A128KW", enc: "A128GCM", zip: "DEF", p2c: 2 ** 31 }, "", "", "", ""].map(segment).join("."),
    "T11: a claim that stands twice": () =>
      forge(record, header(), JSON.stringify(claims()).replace("{", '{"sub":"other",')),
    "T11: NUL in its subject": () => withClaims({ sub: `${ground.server.ownerUid}\0` }),
    "O5: of a key that we never had": () => withHeader({ kid: "emulator" }),
  };
  for (const [rule, token] of Object.entries(refused)) {
    // Our audience is public, and a bearer can read the audience of a token.
    const reason = rule.startsWith("T4") ? "for http\\S+; " : "valid";
    it(`${rule}: UNAUTHENTICATED, without a reason but a missing audience`, async () => {
      clock.advance(1000);
      const outcome = await ground.everywhere(await token(), "GroupsService/ListGroups", {});
      assert.equal(codeOf(outcome), "UNAUTHENTICATED");
      const expected = `^Unauthenticated: (the access token is not ${reason}|the Authorization header must)`;
      assert.match(outcome.message, new RegExp(expected));
    });
  }

  it("T8: a token cut anywhere is UNAUTHENTICATED", async () => {
    const token = withClaims({});
    for (let length = token.length - 1; length > 0; length -= 13) {
      clock.advance(100);
      assert.equal(
        codeOf(await ground.once(token.slice(0, length), "GroupsService/ListGroups", {})),
        "UNAUTHENTICATED",
      );
    }
  });

  const sent: readonly [string, (token: string) => { headers?: string[]; query?: string }, number][] = [
    ["T14: two Authorization headers", (t) => ({ headers: ["authorization", t, "authorization", t] }), 401],
    ["T14: the scheme Basic", (t) => ({ headers: ["authorization", t.replace("Bearer", "Basic")] }), 401],
    ["T14: the token in the query", (t) => ({ query: `?access_token=${t.slice(7)}` }), 401],
    ["T14: the scheme in lower case", (t) => ({ headers: ["authorization", t.replace("Bearer", "bearer")] }), 200],
  ];
  for (const [rule, make, status] of sent) {
    it(`${rule} gets the status ${status}`, async () => {
      const { headers = [], query = "" } = make(`Bearer ${ground.server.ownerToken}`);
      assert.equal(await statusOf(`${ground.server.url}/iam/v2beta1/groups${query}`, headers), status);
    });
  }

  it("D8: more bad tokens than an address may send in a second are RESOURCE_EXHAUSTED; known good ones still pass", async () => {
    clock.advance(1000);
    const good = withClaims({});
    assert.equal(codeOf(await ground.once(good, "GroupsService/ListGroups", {})), "OK");
    const bad = Array.from({ length: 2 * limits.badTokensPerSecond }, (_, i) => withClaims({ aud: `a${i}` }));
    // At once: on a busy machine they would take more than a second one after another.
    const outcomes = await Promise.all(bad.map((token) => ground.once(token, "GroupsService/ListGroups", {})));
    assert.deepEqual([...new Set(outcomes.map(codeOf))].sort(), ["RESOURCE_EXHAUSTED", "UNAUTHENTICATED"]);
    assert.equal(codeOf(await ground.once(good, "GroupsService/ListGroups", {})), "OK");
  });
});

for (const database of databases) {
  describe(`revocation takes effect at once, on ${database}`, () => {
    let ground: Ground;
    before(async () => {
      ground = await openGround({ database });
    });
    after(() => ground[Symbol.asyncDispose]());

    it("T15, Q2: a token whose binding was removed is PERMISSION_DENIED at the very next request", async () => {
      const { groupUid, ownerToken } = ground.server;
      const { token, binding } = await addCaller(ground.server, groupUid, viewerRole.uid);
      assert.equal(codeOf(await ground.everywhere(token, "GroupsService/GetGroup", { uid: groupUid })), "OK");
      const removed = await ground.once(ownerToken, "RoleBindingsService/DeleteRoleBinding", { uid: binding });
      const next = await ground.everywhere(token, "GroupsService/GetGroup", { uid: groupUid });
      assert.deepEqual([codeOf(removed), codeOf(next)], ["OK", "PERMISSION_DENIED"]);
    });

    it("T15: a token whose identity was deleted is UNAUTHENTICATED at the very next request", async () => {
      const { groupUid, ownerToken } = ground.server;
      const { uid, token } = await addCaller(ground.server, groupUid, viewerRole.uid);
      assert.equal(codeOf(await ground.everywhere(token, "GroupsService/GetGroup", { uid: groupUid })), "OK");
      const removed = await ground.once(ownerToken, "IdentitiesService/DeleteIdentity", { uid });
      const next = await ground.everywhere(token, "GroupsService/GetGroup", { uid: groupUid });
      assert.deepEqual([codeOf(removed), codeOf(next)], ["OK", "UNAUTHENTICATED"]);
    });

    it("Q2: no check that starts after a revocation returned is allowed, from many clients at once", async () => {
      const { groupUid, ownerToken } = ground.server;
      const { token, binding } = await addCaller(ground.server, groupUid, viewerRole.uid);
      let revoked = false;
      const check = async (i: number) => {
        const after = revoked;
        const outcome = await ground.apiClients[i % 4]!.call(token, getGroup, { uid: groupUid });
        assert.ok(!after || codeOf(outcome) === "PERMISSION_DENIED", "a check was allowed after the revocation");
        return after;
      };
      const clients = Array.from({ length: 16 }, async (_, i) => {
        for (let n = 0; n < 200; n++) if (await check(i)) return;
        assert.fail("the revocation never came");
      });
      await ground.once(ownerToken, "RoleBindingsService/DeleteRoleBinding", { uid: binding });
      revoked = true;
      await Promise.all(clients);
    });
  });
}

const getGroup = "/chainguard.platform.iam.v2beta1.GroupsService/GetGroup";

/** Returns the status of a GET with exactly these header lines. */
function statusOf(url: string, headers: readonly string[]): Promise<number> {
  const { host } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: ["host", host, ...headers], agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject).end();
  });
}
