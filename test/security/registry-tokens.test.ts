// Tokens for the registry and tokens for the API: neither ever passes for the other, and neither is had by guessing.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { SignJWT } from "jose";
import { limits } from "../../src/server/limits.ts";
import { readSecret } from "../../src/storage/installation/secret-settings.ts";
import { rest } from "../harness/rest.ts";
import { basic, getToken, postToken, readToken, service } from "../registry/sign-in.ts";
import { keyPair, keySetText, signOutside } from "../sts/outside.ts";
import { codeOf, type Ground, openGround, stoppedClock } from "./ground.ts";
import { addCaller, addGroup, ownerRole, viewerRole } from "./tree.ts";

describe("registry tokens", () => {
  // It stands still, so all bad credentials fall into one second.
  const clock = stoppedClock();
  let ground: Ground;
  let url: string;
  let root: string;
  before(async () => {
    ground = await openGround({ clock: clock.read });
    ({ url, groupUid: root } = ground.server);
  });
  after(() => ground[Symbol.asyncDispose]());

  const owner = () => basic("_token", ground.server.registryToken);
  const registryToken = async () =>
    (await getToken(url, owner(), [`repository:${root}/app:pull`])).body.token as string;

  it("T7, T4: registry tokens are not accepted as API tokens, by any transport or exchange", async () => {
    const token = await registryToken();
    assert.equal(codeOf(await ground.everywhere(token, "GroupsService/ListGroups", {})), "UNAUTHENTICATED");
    const exchange = { aud: [ground.server.config.baseUrl], identity: ground.server.ownerUid };
    assert.equal(
      codeOf(await ground.everywhere(token, "SecurityTokenService/Exchange", exchange)),
      "PERMISSION_DENIED",
    );
  });

  it("T4, X3: an API token for the registry is not accepted by the API, and cannot be exchanged for one for the API", async () => {
    const token = ground.server.registryToken;
    assert.equal(codeOf(await ground.everywhere(token, "GroupsService/ListGroups", {})), "UNAUTHENTICATED");
    const { baseUrl } = ground.server.config;
    for (const aud of [[baseUrl], [baseUrl, service], [service]]) {
      const exchange = { aud, identity: ground.server.ownerUid };
      assert.equal(
        codeOf(await ground.everywhere(token, "SecurityTokenService/Exchange", exchange)),
        "PERMISSION_DENIED",
      );
    }
    const refused = await rest(url, token, "GET", "/iam/v2beta1/groups");
    assert.match(
      refused.body.message,
      new RegExp(`is not for ${baseUrl}; "gatehouse auth token --audience ${baseUrl}"`),
    );
  });

  it("X3: an API token for the API cannot be exchanged for one for the registry", async () => {
    const exchange = { aud: [service], identity: ground.server.ownerUid };
    assert.equal(
      codeOf(await ground.everywhere(ground.server.ownerToken, "SecurityTokenService/Exchange", exchange)),
      "PERMISSION_DENIED",
    );
  });

  it("T7: registry tokens are not prolonged by signing in with them", async () => {
    const token = await registryToken();
    for (const user of ["_token", ground.server.ownerUid]) {
      assert.equal((await getToken(url, basic(user, token), [])).status, 401);
    }
    assert.equal((await postToken(url, { grant_type: "refresh_token", refresh_token: token })).status, 401);
  });

  it("T7: registry tokens are signed by another key than API tokens, so a registry takes no API token", async () => {
    const { header } = readToken(await registryToken());
    assert.notEqual(header.kid, readToken(ground.server.ownerToken).header.kid);
    const { body } = await rest(url, undefined, "GET", "/.well-known/jwks.json");
    assert.ok(body.keys.every(({ kid }: { kid: string }) => kid !== header.kid));
  });

  it("T6: expire after five minutes, and not later than the credential", async () => {
    const signedIn = readToken(ground.server.registryToken).claims;
    const { exp } = readToken(await registryToken()).claims;
    assert.ok(exp! * 1000 <= Math.min(signedIn.exp! * 1000, clock.read() + 300_000));
    const pair = keyPair("ES256", "short");
    const issuer = "https://short.example.org";
    const staticKeys = { issuer, subject: "s", issuerKeys: keySetText(pair) };
    const { body } = await rest(url, ground.server.ownerToken, "POST", `/iam/v2beta1/identities/${root}`, {
      name: "short",
      staticKeys,
    });
    const pullExp = Math.floor(clock.read() / 1000) + 90;
    const claims = { iss: issuer, sub: "s", aud: ground.server.config.baseUrl, exp: pullExp };
    const reply = await getToken(url, basic(body.uid, await signOutside(pair, claims)), []);
    assert.equal(readToken(reply.body.token).claims.exp, pullExp);
  });

  it("X3: registry tokens are valid for the configured registry only", async () => {
    assert.equal(readToken(await registryToken()).claims.aud, service);
    assert.equal((await getToken(url, owner(), [], "elsewhere")).status, 400);
    assert.equal((await getToken(url, owner(), [], ground.server.config.baseUrl)).status, 400);
  });

  it("T15: registry tokens are denied once the binding or the identity is deleted", async () => {
    const caller = await addCaller(ground.server, root, viewerRole.uid);
    const scope = `repository:${root}/app:pull`;
    const ask = () => getToken(url, basic("_token", caller.registryToken), [scope]);
    assert.deepEqual((await ask()).access, [scope]);
    await ground.once(ground.server.ownerToken, "RoleBindingsService/DeleteRoleBinding", { uid: caller.binding });
    assert.deepEqual((await ask()).access, []);
    await ground.once(ground.server.ownerToken, "IdentitiesService/DeleteIdentity", { uid: caller.uid });
    assert.equal((await ask()).status, 401);
  });

  it("I1: denials are the same for a repo of another tenant and a missing one", async () => {
    const stranger = await addGroup(ground.server, null, "stranger");
    await rest(url, ground.server.ownerToken, "POST", `/registry/v2beta1/repos/${root}`, { name: "app" });
    const { registryToken: token } = await addCaller(ground.server, stranger, ownerRole.uid);
    const ask = async (name: string) => {
      const { status, body } = await getToken(url, basic("_token", token), [`repository:${name}:pull,push,delete`]);
      return { status, access: readToken(body.token).claims.access, scope: body.scope };
    };
    const absent = await ask(`${"f".repeat(40)}/app`);
    assert.deepEqual(await ask(`${root}/app`), absent);
    assert.deepEqual(await ask(`${root}/absent`), absent);
  });

  const bad: Readonly<Record<string, () => Record<string, string> | Promise<Record<string, string>>>> = {
    "X2: no credentials": () => ({}),
    "X2: a user name alone": () => basic("_token", ""),
    "X2: a user who is nobody": () => basic("owner", ground.server.registryToken),
    "T14: an API token of another identity than the user name says": async () => {
      const { uid } = await addCaller(ground.server, root, viewerRole.uid);
      return basic(uid, ground.server.registryToken);
    },
    "T4: an API token that is for the API": () => basic("_token", ground.server.ownerToken),
    "T4: an API token for an audience that the registry's name begins with": async () =>
      basic("_token", await ground.server.tokenOf(ground.server.ownerUid, {}, service.slice(0, -1), `sub.${service}`)),
    "T14: two Authorization headers in one": () => {
      const { authorization } = owner();
      return { authorization: `${authorization}, ${authorization}` };
    },
    "T1: an unsigned token": () => basic("_token", ground.server.registryToken.replace(/[^.]+$/, "")),
    "T8: a token that was cut": () => basic("_token", ground.server.registryToken.slice(0, -1)),
    "X1: a token of an issuer that the identity does not name": async () => {
      const claims = { iss: "https://other.example", sub: "owner", aud: ground.server.config.baseUrl, exp: 2 ** 31 };
      return basic(ground.server.ownerUid, await signOutside(keyPair("ES256"), claims));
    },
    "X1: a token of another issuer for _token": async () => {
      const claims = {
        iss: "https://issuer.example.org",
        sub: "owner",
        aud: ground.server.config.baseUrl,
        exp: 2 ** 31,
      };
      return basic("_token", await signOutside(keyPair("ES256"), claims));
    },
    "T5: a token in our name by another key": async () => {
      const { header, claims } = readToken(ground.server.registryToken);
      const signed = new SignJWT(claims).setProtectedHeader({ ...header, alg: "RS256" });
      return basic("_token", await signed.sign(keyPair("RS256").privateKey));
    },
  };
  for (const [what, credentials] of Object.entries(bad)) {
    it(`${what}: 401, with a challenge and without a token`, async () => {
      const { status, body, headers } = await getToken(url, await credentials(), [`repository:${root}/app:pull`]);
      assert.equal(status, 401);
      assert.match(headers.get("www-authenticate") ?? "", /^Basic /);
      assert.deepEqual([body.token, body.access_token], [undefined, undefined]);
    });
  }

  it("X14: credentials in the query are not read", async () => {
    const query = new URLSearchParams({ service, username: "_token", password: ground.server.registryToken });
    assert.equal((await fetch(`${url}/token?${query}`)).status, 401);
  });

  it("F9: a form that is too long gets 413", async () => {
    const { status } = await postToken(url, {
      grant_type: "password",
      username: "_token",
      password: "x".repeat(70_000),
    });
    assert.equal(status, 413);
  });

  it("L1: the published key does not contain the private part", async () => {
    const { database, encryption } = ground.server.server;
    const stored = JSON.parse((await readSecret(database.session, encryption, "registry_signing_key"))!);
    const { d } = JSON.parse(stored.privateJwk);
    const shown = [
      await (await fetch(`${url}/token/jwks.json`)).text(),
      await (await fetch(`${url}/token/certificate.pem`)).text(),
    ];
    for (const text of shown) assert.ok(d.length > 100 && !text.includes(d));
  });

  it("D8: many bad credentials exhaust the limit of an address, and a token that was valid before still passes", async () => {
    await registryToken();
    const codes: number[] = [];
    for (let i = 0; i <= limits.badTokensPerSecond; i++) {
      codes.push((await getToken(url, basic("_token", `a.b.${i}`), [])).status);
    }
    assert.equal(codes.at(0), 401);
    assert.equal(codes.at(-1), 429);
    assert.equal((await getToken(url, owner(), [])).status, 200);
    clock.advance(1000);
    assert.equal((await getToken(url, basic("_token", "a.b.c"), [])).status, 401);
  });
});
