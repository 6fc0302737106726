// X, J and R11: the token exchange over the wire, with an outside issuer on loopback.
import assert from "node:assert/strict";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { rest } from "../harness/rest.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "../sts/outside.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, addIdentity, ownerRole } from "./tree.ts";

const exchange = "SecurityTokenService/Exchange";

describe("a token exchange over the wire", () => {
  let ground: Ground;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let identity: string;
  let baseUrl: string;
  before(async () => {
    ground = await openGround();
    ({ baseUrl } = ground.server.config);
    issuer = await startIssuer(keyPair("ES256"));
    identity = await create({ claimMatch: { issuer: issuer.url, subject: "workload" } });
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await ground[Symbol.asyncDispose]();
  });

  /** Creates an identity with this relationship as the owner does, and answers its uid. */
  async function create(relationship: JsonObject): Promise<string> {
    const { groupUid, ownerToken } = ground.server;
    const request = { parent: groupUid, identity: { name: "workload", ...relationship } };
    return String(replyOf(await ground.once(ownerToken, "IdentitiesService/CreateIdentity", request)).uid);
  }
  const now = () => Math.floor(Date.now() / 1000);
  const claims = (changes: object = {}) => ({
    iss: issuer.url,
    sub: "workload",
    aud: baseUrl,
    iat: now(),
    exp: now() + 600,
    ...changes,
  });
  const present = (changes: object = {}, key = keyPair("ES256")) => signOutside(key, claims(changes));
  const wanted = (changes: JsonObject = {}): JsonObject => ({ aud: [baseUrl], identity, ...changes });

  it("a valid exchange returns a token: each case below changes one part", async () => {
    assert.equal(codeOf(await ground.everywhere(await present(), exchange, wanted())), "OK");
  });

  const denied: Readonly<Record<string, [() => Promise<string>, (() => JsonObject)?]>> = {
    "X1: of an issuer that the identity does not name": [() => present({ iss: "https://other.example" })],
    "X4: that has expired": [() => present({ exp: now() - 60 })],
    "X10: whose audience is another service": [() => present({ aud: "https://other.example" })],
    "X2: that fits no identity, when none is named": [() => present({ sub: "x" }), () => ({ aud: [baseUrl] })],
    "J1: whose issuer only contains a good address": [
      () => present({ iss: "http://169.254.169.254/?https://good.example" }),
    ],
    "J2: whose issuer is on loopback and named by nobody": [() => present({ iss: "http://127.0.0.1:1" })],
    "J2: whose issuer is a private address": [() => present({ iss: "https://10.0.0.1" })],
    "M5: whose subject differs in case": [() => present({ sub: "Workload" })],
    "M5: whose subject ends in a space": [() => present({ sub: "workload " })],
    "M8: whose subject is a pattern": [() => present({ sub: ".*" })],
  };
  for (const [rule, [token, asked = () => wanted()]] of Object.entries(denied)) {
    it(`${rule}, is PERMISSION_DENIED, and nobody is asked about it`, async () => {
      const requests = issuer.requests.length;
      const outcome = await ground.everywhere(await token(), exchange, asked());
      assert.equal(codeOf(outcome), "PERMISSION_DENIED");
      assert.equal(issuer.requests.length, requests);
    });
  }

  it("J8, X13: a token signed by a key that the issuer does not publish is PERMISSION_DENIED", async () => {
    const token = await present({}, keyPair("ES256", "other"));
    assert.equal(codeOf(await ground.everywhere(token, exchange, wanted())), "PERMISSION_DENIED");
  });

  it("X1: names the claim in the message and in ErrorInfo", async () => {
    const outcome = await ground.everywhere(await present({ iss: "https://other.example" }), exchange, wanted());
    assert.match(outcome.message, /invalid "iss"/);
    const [info] = outcome.details as JsonObject[];
    assert.deepEqual(info?.metadata, { claim: "iss", presented: "https://other.example" });
  });

  it("X2: an exchange without a token is UNAUTHENTICATED", async () => {
    assert.equal(codeOf(await ground.everywhere(undefined, exchange, wanted())), "UNAUTHENTICATED");
  });

  it("an exchange of an invalid token is PERMISSION_DENIED, as of any other that does not verify", async () => {
    const outcome = await ground.everywhere("not-a-token", exchange, wanted());
    assert.equal(codeOf(outcome), "PERMISSION_DENIED");
    assert.match(outcome.message, /^verifying token: oidc: malformed jwt/);
  });

  it("X2: an exchange with two tokens is UNAUTHENTICATED", async () => {
    const bearer = `Bearer ${await present()}`;
    const reply = await send("GET", [bearer, bearer], `?aud=${encodeURIComponent(baseUrl)}&identity=${identity}`);
    assert.equal(reply.status, 401);
  });

  it("X2: an exchange that names no identity but its group succeeds if the token matches exactly one there", async () => {
    const { groupUid, ownerToken } = ground.server;
    const identityUid = await create({ claimMatch: { issuer: issuer.url, subject: "unnamed" } });
    const binding = { parent: groupUid, roleBinding: { identityUid, roleUid: ownerRole.uid } };
    assert.equal(codeOf(await ground.once(ownerToken, "RoleBindingsService/CreateRoleBinding", binding)), "OK");
    const token = await present({ sub: "unnamed" });
    assert.equal(codeOf(await ground.everywhere(token, exchange, { aud: [baseUrl], scope: groupUid })), "OK");
    const unnamed = await ground.everywhere(token, exchange, { aud: [baseUrl] });
    assert.equal(codeOf(unnamed), "PERMISSION_DENIED");
  });

  it("X4: an exchange after an update of the identity that the token no longer matches is PERMISSION_DENIED", async () => {
    const changing = await create({ claimMatch: { issuer: issuer.url, subject: "changing" } });
    const token = await present({ sub: "changing" });
    assert.equal(codeOf(await ground.once(token, exchange, wanted({ identity: changing }))), "OK");
    const claimMatch = { issuer: issuer.url, subject: "changed" };
    const update = { identity: { uid: changing, claimMatch }, updateMask: "claimMatch" };
    assert.equal(codeOf(await ground.once(ground.server.ownerToken, "IdentitiesService/UpdateIdentity", update)), "OK");
    const outcome = await ground.everywhere(token, exchange, wanted({ identity: changing }));
    assert.equal(codeOf(outcome), "PERMISSION_DENIED");
  });

  const widened: Readonly<Record<string, () => JsonObject>> = {
    "another audience": () => ({ aud: ["registry.example"] }),
    "capabilities that it is narrowed not to have": () => ({ cap: ["groups.delete"] }),
    "a scope beyond its own": () => ({ scopes: [ground.server.groupUid] }),
  };
  for (const [rule, asked] of Object.entries(widened)) {
    it(`X3: an exchange of our own narrowed token for ${rule} is denied`, async () => {
      const child = await addGroup(ground.server, ground.server.groupUid);
      const first = wanted({ scopes: [child], cap: ["groups.list"], identity: "" });
      const owner = replyOf(await ground.once(ground.server.ownerToken, exchange, first));
      const outcome = await ground.everywhere(String(owner.token), exchange, { aud: [baseUrl], ...asked() });
      assert.match(codeOf(outcome), /^(PERMISSION_DENIED|INVALID_ARGUMENT)$/);
    });
  }

  it("X3: a token for a scope where the identity holds nothing is PERMISSION_DENIED", async () => {
    const asked = wanted({ scopes: [await addGroup(ground.server, null)] });
    assert.equal(codeOf(await ground.everywhere(await present(), exchange, asked)), "PERMISSION_DENIED");
  });

  for (const aud of [["https://other.example"], ["*"], []]) {
    it(`X9: an exchange for the audiences ${JSON.stringify(aud)} is INVALID_ARGUMENT`, async () => {
      assert.equal(codeOf(await ground.everywhere(await present(), exchange, wanted({ aud }))), "INVALID_ARGUMENT");
    });
  }

  it("X13: a token by a key of another identity of the same issuer and subject is PERMISSION_DENIED", async () => {
    const [own, other] = [keyPair("ES256", "own"), keyPair("ES256", "others")];
    const relationship = (keys: string) => ({
      staticKeys: { issuer: "https://static.example", subject: "s", issuerKeys: keys },
    });
    const mine = await create(relationship(keySetText(own)));
    await create(relationship(keySetText(other)));
    const token = (key: typeof own) => present({ iss: "https://static.example", sub: "s" }, key);
    assert.equal(codeOf(await ground.once(await token(own), exchange, wanted({ identity: mine }))), "OK");
    const outcome = await ground.everywhere(await token(other), exchange, wanted({ identity: mine }));
    assert.equal(codeOf(outcome), "PERMISSION_DENIED");
  });

  it("X14: an exchange responds with Cache-Control: no-store, and reads the token from the header alone", async () => {
    const token = await present();
    const query = `?aud=${encodeURIComponent(baseUrl)}&identity=${identity}`;
    for (const body of [undefined, '{"identity":"x"}']) {
      const reply = await send("GET", [`Bearer ${token}`], query, body);
      assert.deepEqual([reply.status, reply.headers["cache-control"]], [200, "no-store"]);
    }
    assert.equal((await send("GET", [], query)).status, 401);
    // A parameter that no method has is refused before anybody looks for a token.
    assert.equal((await send("GET", [], `${query}&token=${token}`)).status, 400);
  });

  it("R11: a service principal is assumed with no outside token, and a change to one is checked like its creation", async () => {
    const { ownerToken } = ground.server;
    const changing = await create({ claimMatch: { issuer: issuer.url, subject: "kind" } });
    const update = (relationship: JsonObject) =>
      ground.once(ownerToken, "IdentitiesService/UpdateIdentity", {
        identity: { uid: changing, name: "kind", ...relationship },
      });
    const broken = await update({ staticKeys: { issuer: "", subject: "s", issuerKeys: "{}" } });
    assert.equal(codeOf(broken), "INVALID_ARGUMENT");
    assert.equal(codeOf(await update({ servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" })), "OK");
    const outcome = await ground.everywhere(await present({ sub: "kind" }), exchange, wanted({ identity: changing }));
    assert.equal(codeOf(outcome), "PERMISSION_DENIED");
  });

  it("J7: an issuer with a query, a fragment or a user cannot be named by an identity", async () => {
    const { groupUid, ownerToken } = ground.server;
    for (const bad of ["https://i.example/?a", "https://i.example/#a", "https://u:p@i.example", "http://i.example"]) {
      const named = { name: "workload", claimMatch: { issuer: bad, subject: "s" } };
      const outcome = await ground.everywhere(ownerToken, "IdentitiesService/CreateIdentity", {
        parent: groupUid,
        identity: named,
      });
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT", bad);
    }
  });

  const brokenMatches: Readonly<Record<string, JsonObject>> = {
    "M3: an issuer pattern with a dot that is not escaped": { issuerPattern: "https://a.example", subject: "s" },
    "M3: an issuer pattern that a slash can match": { issuerPattern: "https://\\S+\\.example", subject: "s" },
    "M4: a back-reference": { issuer: "https://i.example", subjectPattern: "(a)\\1" },
    "M4: a look-ahead": { issuer: "https://i.example", subjectPattern: "(?=a)a" },
    "M4: a repetition of repetitions": { issuer: "https://i.example", subjectPattern: "a{1000}{1000}" },
    "M4: a thousand nested groups": {
      issuer: "https://i.example",
      subjectPattern: `${"(".repeat(1000)}a${")".repeat(1000)}`,
    },
    "M4: a pattern of 100 KiB": { issuer: "https://i.example", subjectPattern: "a".repeat(100 * 1024) },
    "M6: no subject": { issuer: "https://i.example" },
    "M6: an empty subject": { issuer: "https://i.example", subject: "" },
    "M6: an empty pattern": { issuer: "https://i.example", subjectPattern: "" },
  };
  for (const [rule, claimMatch] of Object.entries(brokenMatches)) {
    it(`${rule} is INVALID_ARGUMENT`, async () => {
      const request = { parent: ground.server.groupUid, identity: { name: "workload", claimMatch } };
      const outcome = await ground.everywhere(ground.server.ownerToken, "IdentitiesService/CreateIdentity", request);
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
    });
  }

  it("M1, M2: a pattern matches whole values only", async () => {
    const claimMatch = { issuer: issuer.url, subjectPattern: "a|b" };
    const patterned = await create({ claimMatch });
    for (const [sub, code] of Object.entries({
      a: "OK",
      b: "OK",
      aEVIL: "PERMISSION_DENIED",
      EVILb: "PERMISSION_DENIED",
      "b\n": "PERMISSION_DENIED",
    })) {
      const outcome = await ground.everywhere(await present({ sub }), exchange, wanted({ identity: patterned }));
      assert.equal(codeOf(outcome), code, JSON.stringify(sub));
    }
  });

  it("X6: a scoped-down token creates nothing outside its scope, and nothing that it is narrowed not to do", async () => {
    const { server } = ground;
    const child = await addGroup(server, server.groupUid);
    const owner = await addCaller(server, server.groupUid, ownerRole.uid);
    const bound = await addIdentity(server, server.groupUid);
    const scoped = await server.tokenOf(owner.uid, { scopes: [child] });
    const creations: readonly [string, JsonObject][] = [
      ["GroupsService/CreateGroup", { group: { name: "g" } }],
      [
        "IdentitiesService/CreateIdentity",
        { identity: { name: "i", claimMatch: { issuer: "https://i.example", subject: "s" } } },
      ],
      ["RolesService/CreateRole", { role: { name: "r", capabilities: ["CAP_IAM_GROUPS_LIST"] } }],
      ["RoleBindingsService/CreateRoleBinding", { roleBinding: { identityUid: bound, roleUid: ownerRole.uid } }],
    ];
    for (const [method, body] of creations) {
      const outside = await ground.everywhere(scoped, method, { parent: server.groupUid, ...body });
      const inside = await ground.once(scoped, method, { parent: child, ...body });
      assert.deepEqual([codeOf(outside), codeOf(inside)], ["PERMISSION_DENIED", "OK"], method);
    }
    const root = await ground.everywhere(scoped, "GroupsService/CreateGroup", { group: { name: "root" } });
    assert.equal(codeOf(root), "PERMISSION_DENIED");
  });

  it("X11: an address that is not plainly verified finds no organization", async () => {
    const { status } = await rest(
      ground.server.url,
      ground.server.ownerToken,
      "GET",
      "/iam/v2beta1/groups:lookupGroup",
    );
    assert.equal(status, 404);
  });

  /** One HTTP request to the exchange with these Authorization headers. */
  function send(method: string, authorization: readonly string[], query: string, body?: string) {
    const { host } = new URL(ground.server.url);
    const length = body === undefined ? [] : ["content-length", String(body.length)];
    const headers = ["host", host, ...length, ...authorization.flatMap((value) => ["authorization", value])];
    return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      const sent = request(
        `${ground.server.url}/sts/exchange${query}`,
        { method, headers, agent: false },
        (response) => {
          void text(response).then(() => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
        },
      );
      sent.on("error", reject).end(body);
    });
  }
});
