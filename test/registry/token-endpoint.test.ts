import assert from "node:assert/strict";
import { createPublicKey, hash, verify, X509Certificate } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { newRoot } from "../../src/model/uid.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { databases } from "../harness/databases.ts";
import { startIdentityProvider } from "../harness/identity-provider.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, arrange, viewerRole } from "../security/tree.ts";
import { groupRow } from "../storage/fixtures.ts";
import { keyPair, keySetText, signOutside } from "../sts/outside.ts";
import { basic, getToken, postToken, readToken, service } from "./sign-in.ts";

const roleOf = (name: string) => builtInRoles.find((role) => role.name === name)!.uid;

after(stopPostgres);

for (const database of databases) {
  describe(`the token endpoint on ${database}`, () => {
    let server: TestServer;
    let root: string;
    let team: string;
    let now = 0;
    before(async () => {
      // Tokens of an outside issuer have the time of the machine.
      now = Date.now();
      server = await startTestServer({ database, clock: () => now });
      root = server.groupUid;
      team = await addGroup(server, root, "team");
      await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/repos/${root}`, { name: "app" });
    });
    after(() => server[Symbol.asyncDispose]());

    const as = async (role: string, group: string) =>
      basic("_token", (await addCaller(server, group, roleOf(role))).registryToken);
    const ask = async (role: string, group: string, ...scopes: string[]) =>
      (await getToken(server.url, await as(role, group), scopes)).access;

    it("returns a token in both spellings, with its lifetime", async () => {
      const { status, headers, body } = await getToken(server.url, basic("_token", server.registryToken), []);
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(body.access_token, body.token);
      assert.equal(body.expires_in, 300);
      // The claims of a token are in whole seconds.
      const iat = Math.floor(now / 1000);
      assert.equal(body.issued_at, new Date(iat * 1000).toISOString());
      const { claims } = readToken(body.token);
      assert.equal(claims.iat, iat);
      assert.equal(claims.exp! - claims.iat!, 300);
      assert.deepEqual([claims.iss, claims.sub, claims.aud], [server.config.baseUrl, server.ownerUid, service]);
      assert.equal(typeof claims.jti, "string");
      assert.deepEqual(claims.access, []);
    });

    it("signs with the key of its certificate, in the form that docker-registry 2.8 looks up", async () => {
      const { body } = await getToken(server.url, basic("_token", server.registryToken), []);
      const certificate = new X509Certificate(await (await fetch(`${server.url}/token/certificate.pem`)).text());
      assert.ok(certificate.ca && certificate.verify(certificate.publicKey));
      const [input, signature] = body.token.split(/\.(?=[^.]*$)/);
      assert.ok(verify("sha256", Buffer.from(input), certificate.publicKey, Buffer.from(signature, "base64url")));
      const { header } = readToken(body.token);
      assert.match(header.kid!, /^(?:[A-Z2-7]{4}:){11}[A-Z2-7]{4}$/);
      const digest = hash("sha256", certificate.publicKey.export({ type: "spki", format: "der" }), "buffer");
      // The first five bytes are the first eight letters.
      const bits = BigInt(`0x${digest.subarray(0, 5).toString("hex")}`);
      const letters = Array.from({ length: 8 }, (_, i) => Number((bits >> BigInt(35 - 5 * i)) & 31n));
      const text = letters.map((n) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[n]).join("");
      assert.equal(header.kid!.replaceAll(":", "").slice(0, 8), text);
    });

    it("publishes the key as a key set, too", async () => {
      const { body } = await getToken(server.url, basic("_token", server.registryToken), []);
      const keys = (await rest(server.url, undefined, "GET", "/token/jwks.json")).body;
      await jwtVerify(body.token, createLocalJWKSet(keys), { audience: service });
      assert.equal(createPublicKey({ key: keys.keys[0], format: "jwk" }).asymmetricKeyType, "rsa");
      assert.equal(keys.keys[0].d, undefined);
    });

    for (const [role, expected] of [
      ["viewer", "pull"],
      ["registry.pull", "pull"],
      ["registry.push", "pull,push,delete"],
      ["owner", "pull,push,delete"],
      ["console_viewer", undefined],
    ] as const) {
      it(`grants a ${role}: ${expected ?? "nothing"}`, async () => {
        const name = `${root}/app`;
        const granted = expected === undefined ? [] : [`repository:${name}:${expected}`];
        assert.deepEqual(await ask(role, root, `repository:${name}:*`), granted);
        assert.deepEqual(await ask(role, root, `repository:${name}:pull,push,delete`), granted);
      });
    }

    it("grants on a repo that is not there yet only to who may create it", async () => {
      const name = `${root}/new`;
      assert.deepEqual(await ask("registry.push", root, `repository:${name}:push`), [`repository:${name}:push`]);
      assert.deepEqual(await ask("viewer", root, `repository:${name}:push`), []);
    });

    it("reads the parts of a name as groups, and grants by the rights on the last one", async () => {
      const name = `${root}/team/app`;
      assert.deepEqual(await ask("registry.push", team, `repository:${name}:pull,push`), [
        `repository:${name}:pull,push`,
      ]);
      assert.deepEqual(await ask("registry.push", team, `repository:${root}/app:pull,push`), []);
    });

    it("answers several scopes, in parameters and in one, and joins those about one repo", async () => {
      const [a, b] = [`${root}/app`, `${root}/team/app`];
      const scopes = [`repository:${a}:pull repository:${a}:push`, `repository:${b}:pull`];
      assert.deepEqual(await ask("owner", root, ...scopes), [`repository:${a}:pull,push`, `repository:${b}:pull`]);
    });

    for (const [what, scope] of [
      ["a group that is not there", (r: string) => `repository:${r}/nowhere/app:pull,push`],
      ["an organization that is not there", () => `repository:${"a".repeat(40)}/app:pull`],
      ["an organization by a name that is not verified", () => "repository:example.org/app:pull"],
      ["a name that no repository can have", (r: string) => `repository:${r}/App:pull`],
      ["an action that is not known", (r: string) => `repository:${r}/app:constructor`],
      ["a kind of thing that is not known", (r: string) => `artifact:${r}/app:pull`],
      ["an organization alone", (r: string) => `repository:${r}:pull`],
      ["all repositories, as zot names them, of several organizations", () => "repository::pull"],
      ["pushes to all repositories", () => "repository::push"],
      ["an invalid scope", () => "x"],
      ["a scope of another system", () => "openid profile https://example.test/.default"],
      ["a resource of a class", (r: string) => `repository(plugin):${r}/plugin-nowhere/x:pull`],
      ["actions of another registry", (r: string) => `repository:${r}/other:metadata_read,scanner-pull`],
      ["no actions", (r: string) => `repository:${r}/other:`],
    ] as const) {
      it(`leaves out ${what}, without an error`, async () => {
        assert.deepEqual(await ask("owner", root, scope(root), `repository:${root}/app:pull`), [
          `repository:${root}/app:pull`,
        ]);
      });
    }

    it("signs in a client that asks for no access, in every form that clients have for it", async () => {
      for (const scopes of [[], [""], [" "], ["repository::"], ["registry::*"]]) {
        const { status, access } = await getToken(server.url, basic("_token", server.registryToken), scopes, "");
        assert.deepEqual([status, access], [200, []]);
      }
    });

    // The second is the catalog of zot.
    for (const catalog of ["registry:catalog:*", "repository::pull"])
      it(`grants ${catalog} to operators, and to nobody else`, async () => {
        const { access } = await getToken(server.url, basic("_token", server.registryToken), [catalog]);
        assert.deepEqual(access, [catalog]);
        assert.deepEqual(await ask("owner", root, catalog), []);
      });

    it("takes a token that a workload has exchanged for the registry, or for the registry and the API", async () => {
      await using provider = await startIdentityProvider(["ci"]);
      const claimMatch = { issuer: provider.issuer, subject: "ci" };
      const path = `/iam/v2beta1/identities/${root}`;
      const { uid } = (await rest(server.url, server.ownerToken, "POST", path, { name: "ci", claimMatch })).body;
      const presented = await provider.issueToken("ci", server.url);
      for (const audience of [[service], [server.url, service]]) {
        const query = new URLSearchParams([["identity", uid], ...audience.map((one) => ["aud", one])]);
        const { status, body } = await rest(server.url, presented, "GET", `/sts/exchange?${query}`);
        assert.equal(status, 200, JSON.stringify(body));
        for (const user of ["_token", uid])
          assert.equal((await getToken(server.url, basic(user, body.token), [])).status, 200);
        const isForApi = audience.includes(server.url);
        assert.equal((await rest(server.url, body.token, "GET", "/auth/v1/ok")).status, isForApi ? 200 : 401);
      }
    });

    it("rejects a token for the API, and names the audience and the command that gets a token for it", async () => {
      const expected = `"gatehouse auth token --audience ${service}"`;
      for (const { status, body } of [
        await getToken(server.url, basic("_token", server.ownerToken), []),
        await getToken(server.url, basic(server.ownerUid, server.ownerToken), []),
        await postToken(server.url, { grant_type: "refresh_token", refresh_token: server.ownerToken }),
      ]) {
        assert.deepEqual([status, body.token, body.errors[0].code], [401, undefined, "UNAUTHORIZED"]);
        assert.ok(body.errors[0].message.includes(`is not for ${service}; ${expected}`), body.errors[0].message);
        assert.equal(body.error_description, body.errors[0].message);
      }
    });

    it("takes a pull token of an identity with static keys, by query and by form", async () => {
      const pair = keyPair("RS256", "pull-token");
      const issuer = "https://pull.example.org";
      const staticKeys = { issuer, subject: "laptop", issuerKeys: keySetText(pair) };
      const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${root}`, {
        name: "laptop",
        staticKeys,
      });
      const { uid } = created.body;
      const binding = { identityUid: uid, roleUid: roleOf("registry.pull") };
      await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${root}`, binding);
      const exp = Math.floor(Date.now() / 1000) + 3600;
      const claims = { iss: issuer, sub: "laptop", aud: server.config.baseUrl, exp };
      const password = await signOutside({ ...pair, kid: undefined }, claims);
      const scope = `repository:${root}/app:pull,push`;
      const granted = [`repository:${root}/app:pull`];
      const replies = [
        await getToken(server.url, basic(uid, password), [scope]),
        await postToken(server.url, { grant_type: "password", service, scope, username: uid, password }),
        await getToken(server.url, basic(root, password), [scope]),
      ];
      for (const { access, body } of replies) {
        assert.deepEqual(access, granted);
        assert.equal(readToken(body.token).claims.sub, uid);
      }
      await rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/identities/${uid}`);
      assert.equal((await getToken(server.url, basic(uid, password), [scope])).status, 401);
    });

    it("answers a pull token with one that ends with the static keys, and takes it without a user name from nobody", async () => {
      const pair = keyPair("RS256", "short-lived");
      const issuer = "https://short.example.org";
      const keys = { issuer, subject: "visitor", issuerKeys: keySetText(pair) };
      const until = Math.floor(now / 1000) + 200;
      const expirationTime = new Date(until * 1000).toISOString();
      const { body: identity } = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/identities/${root}`, {
        name: "visitor",
        staticKeys: { ...keys, expirationTime },
      });
      const claims = { iss: issuer, sub: "visitor", aud: server.config.baseUrl, exp: until + 3600 };
      const password = await signOutside({ ...pair, kid: undefined }, claims);
      const { status, body } = await getToken(server.url, basic(identity.uid, password), []);
      assert.equal(status, 200);
      assert.equal(readToken(body.token).claims.exp, until);
      for (const refused of [
        await getToken(server.url, basic("_token", password), []),
        await postToken(server.url, { grant_type: "refresh_token", service, refresh_token: password }),
      ]) {
        assert.equal(refused.status, 401);
        assert.match(refused.body.errors[0].message, /a workload names its identity, or a group in which it is/);
      }
    });

    it("gives the same token again for the same access, but none that ends before a new one would", async () => {
      const pair = keyPair("RS256", "repeated");
      const keys = { issuer: "https://repeated.example.org", subject: "visitor", issuerKeys: keySetText(pair) };
      const path = `/iam/v2beta1/identities/${root}`;
      const created = await rest(server.url, server.ownerToken, "POST", path, { name: "repeated", staticKeys: keys });
      const seconds = Math.floor(now / 1000);
      const ask = async (life: number) => {
        const claims = { iss: keys.issuer, sub: keys.subject, aud: server.config.baseUrl, exp: seconds + life };
        const password = await signOutside({ ...pair, kid: undefined }, claims);
        const { status, body } = await getToken(server.url, basic(created.body.uid, password), []);
        assert.equal(status, 200);
        assert.equal(readToken(body.token).claims.exp, Math.floor(now / 1000) + body.expires_in);
        return body;
      };
      const short = await ask(40);
      assert.equal(short.expires_in, 40);
      const long = await ask(3600);
      assert.equal(long.expires_in, 300);
      assert.equal((await ask(3600)).token, long.token);
      assert.equal((await ask(40)).expires_in, 40);
      assert.equal((await ask(3600)).expires_in, 300);
      const before = now;
      try {
        const { token } = await ask(3600);
        now += 29_000;
        const again = await ask(3600);
        assert.deepEqual([again.token, again.expires_in], [token, 271]);
        now += 1_000;
        const fresh = await ask(3600);
        assert.notEqual(fresh.token, token);
        assert.equal(fresh.expires_in, 300);
      } finally {
        now = before;
      }
    });

    it("takes an API token in the forms of OAuth 2", async () => {
      const scope = `repository:${root}/app:pull`;
      const password = (await addCaller(server, root, viewerRole.uid)).registryToken;
      const shared = { service, scope, client_id: "docker" };
      const byPassword = await postToken(server.url, {
        ...shared,
        grant_type: "password",
        username: "_token",
        password,
      });
      const byRefresh = await postToken(server.url, {
        ...shared,
        grant_type: "refresh_token",
        refresh_token: password,
      });
      for (const { status, access, body } of [byPassword, byRefresh]) {
        assert.equal(status, 200);
        assert.deepEqual(access, [scope]);
        assert.equal(body.scope, scope);
      }
    });

    it("obeys the narrowing of a token", async () => {
      const narrowed = { narrowing: { scopes: [team] } };
      const { registryToken: token } = await addCaller(server, root, roleOf("registry.push"), narrowed);
      const scopes = [`repository:${root}/app:pull`, `repository:${root}/team/app:pull`];
      assert.deepEqual((await getToken(server.url, basic("_token", token), scopes)).access, [scopes[1]]);
    });

    it("finds an organization by its verified name", async () => {
      const other = await rest(server.url, server.ownerToken, "POST", "/iam/v2beta1/groups/", { name: "acme" });
      const { uid } = other.body;
      await rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/groups/${uid}`, {
        verified: true,
        kind: "ORG_KIND_CUSTOMER",
      });
      assert.deepEqual(await ask("viewer", uid, "repository:acme/app:pull"), ["repository:acme/app:pull"]);
      assert.deepEqual(await ask("viewer", root, "repository:acme/app:pull"), []);
    });

    it("grants nothing where a name fits two groups", async () => {
      for (let i = 0; i < 2; i++) await addGroup(server, root, "twin");
      assert.deepEqual(await ask("owner", root, `repository:${root}/twin/app:pull`), []);
    });

    for (const [what, ask, status, code] of [
      ["another registry", (h: Record<string, string>) => getToken(server.url, h, [], "other"), 400, "UNSUPPORTED"],
      [
        "too many scopes",
        (h: Record<string, string>) => getToken(server.url, h, Array(33).fill("a:b:c")),
        400,
        "UNSUPPORTED",
      ],
      ["no credentials", () => getToken(server.url, {}, []), 401, "UNAUTHORIZED"],
    ] as const) {
      it(`rejects ${what} in the words of the Distribution specification`, async () => {
        const reply = await ask(basic("_token", server.registryToken));
        assert.equal(reply.status, status);
        assert.equal(reply.body.errors[0].code, code);
        assert.equal(reply.headers.get("www-authenticate")?.startsWith("Basic ") ?? false, status === 401);
      });
    }

    for (const [form, field] of [
      [{}, "grant_type"],
      [{ grant_type: "client_credentials" }, "grant_type"],
      [{ grant_type: "password", username: "_token" }, "password"],
      [{ grant_type: "refresh_token" }, "refresh_token"],
    ] as const) {
      it(`names ${field} when a form says ${JSON.stringify(form)}`, async () => {
        const { status, body } = await postToken(server.url, { ...form });
        assert.equal(status, 400);
        assert.equal(body.error, "invalid_request");
        assert.match(body.error_description, new RegExp(`${field}: `));
      });
    }

    it("accepts GET and POST only", async () => {
      const reply = await fetch(`${server.url}/token`, { method: "DELETE" });
      assert.equal(reply.status, 405);
      assert.equal(reply.headers.get("allow"), "GET, POST");
    });
  });
}

describe("the catalog of a registry of one group", () => {
  const registryGroup = newRoot();
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ settings: { registryGroup } });
    await arrange(server, (tx) => insertRow(tx, groupCollection, { ...groupRow(null, "acme"), uid: registryGroup }));
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [role, expected] of [
    ["registry.pull", ["registry:catalog:*", "repository::pull"]],
    ["console_viewer", ["registry:catalog:*"]],
    ["viewer", ["registry:catalog:*", "repository::pull"]],
  ] as const)
    it(`grants ${expected.join(" and ")} to a ${role} of the group`, async () => {
      const { registryToken } = await addCaller(server, registryGroup, roleOf(role));
      const scopes = ["registry:catalog:*", "repository::pull"];
      assert.deepEqual((await getToken(server.url, basic("_token", registryToken), scopes)).access, expected);
    });

  it("grants nothing of it to a viewer of a subgroup", async () => {
    const { registryToken } = await addCaller(server, await addGroup(server, registryGroup), roleOf("viewer"));
    const scopes = ["registry:catalog:*", "repository::pull"];
    assert.deepEqual((await getToken(server.url, basic("_token", registryToken), scopes)).access, []);
  });
});
