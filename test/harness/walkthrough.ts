// The specification's own story: an organization is set up, a workload comes with a token of its own identity provider,
// works within what it was given, and everything is taken down again.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { IdentityProvider } from "./identity-provider.ts";
import { type RestReply, rest } from "./rest.ts";

/** The server that is walked through, and an organization there. */
export interface WalkedServer {
  readonly url: string;
  readonly ownerToken: string;
  readonly groupUid: string;
}

/** Tells the story over REST. The provider knows the workloads "build-pipeline" and "someone-else". */
export async function walkThrough(t: TestContext, server: WalkedServer, provider: IdentityProvider): Promise<void> {
  const { url, ownerToken, groupUid: organization } = server;
  const asOwner = (method: string, path: string, body?: object) => rest(url, ownerToken, method, path, body);

  let group = "";
  let identity = "";
  let role = "";
  let binding = "";
  let apiToken = "";
  const asWorkload = (method: string, path: string, body?: object) => rest(url, apiToken, method, path, body);
  const exchange = (token: string) => {
    const query = new URLSearchParams({ aud: url, identity });
    return rest(url, token, "GET", `/sts/exchange?${query}`);
  };

  await t.test("a group is created in the organization", async () => {
    const body = { name: "walkthrough", description: "Shows the way" };
    const reply = await asOwner("POST", `/iam/v2beta1/groups/${organization}`, body);
    assert.equal(reply.status, 200);
    const { uid, createTime, updateTime, ...rest } = reply.body;
    assert.deepEqual(rest, { ...body, resourceLimits: {}, verified: false });
    assert.match(uid, new RegExp(`^${organization}/[0-9a-f]{16}$`));
    assertTime(createTime);
    assert.equal(updateTime, createTime);
    group = uid;
  });

  await t.test("it is found by its name within the organization", async () => {
    const query = `uidp.descendants_of=${organization}&name=walkthrough`;
    const { body } = await asOwner("GET", `/iam/v2beta1/groups?${query}`);
    assert.deepEqual([body.groups[0].uid, body.totalCount, body.skipped], [group, "1", 0]);
    assert.equal("nextPageToken" in body, false);
  });

  await t.test("an identity says which tokens may assume it", async () => {
    const claimMatch = { issuer: provider.issuer, subject: "build-pipeline" };
    const body = { name: "pipeline", description: "Builds", claimMatch };
    const reply = await asOwner("POST", `/iam/v2beta1/identities/${group}`, body);
    assert.equal(reply.status, 200);
    const { uid, lastSeenTime, createTime, updateTime, ...rest } = reply.body;
    // Empty maps are shown, empty texts are not.
    assert.deepEqual(rest, { ...body, claimMatch: { ...claimMatch, claims: {}, claimPatterns: {} } });
    for (const time of [lastSeenTime, createTime, updateTime]) assertTime(time);
    identity = uid;
  });

  await t.test("the built-in role viewer is found by its name", async () => {
    const { body } = await asOwner("GET", "/iam/v2beta1/roles?name=viewer");
    assert.equal(body.totalCount, "1");
    assert.equal(body.roles[0].description, "Viewer Role (built-in)");
    role = body.roles[0].uid;
  });

  await t.test("a role binding gives it to the identity, and shows what it refers to", async () => {
    const body = { identityUid: identity, roleUid: role };
    const reply = await asOwner("POST", `/iam/v2beta1/roleBindings/${group}`, body);
    assert.equal(reply.status, 200);
    const { uid, createTime, ...rest } = reply.body;
    assert.deepEqual(rest, {
      identity: {
        uid: identity,
        name: "pipeline",
        description: "Builds",
        subject: "build-pipeline",
        issuer: provider.issuer,
      },
      group: { uid: group, name: "walkthrough", description: "Shows the way" },
      role: { uid: role, name: "viewer", description: "Viewer Role (built-in)" },
    });
    assertTime(createTime);
    binding = uid;
  });

  await t.test("the workload exchanges the token of its provider for an API token of one hour", async () => {
    const reply = await exchange(await provider.issueToken("build-pipeline", url));
    assert.equal(reply.status, 200);
    apiToken = reply.body.token;
    const { iss, sub, aud, iat, exp, act } = claimsOf(apiToken);
    assert.deepEqual([iss, sub, aud, exp - iat], [url, identity, url, 3600]);
    assert.deepEqual([act.iss, act.sub], [provider.issuer, "build-pipeline"]);
  });

  await t.test("a token of another workload, or for another audience, is rejected", async () => {
    for (const token of [
      await provider.issueToken("someone-else", url),
      await provider.issueToken("build-pipeline", "https://elsewhere.example"),
    ]) {
      const { status, body } = await exchange(token);
      assert.deepEqual([status, body.code], [403, 7]);
    }
  });

  await t.test("the token of the provider is not an API token", async () => {
    const token = await provider.issueToken("build-pipeline", url);
    assert.equal((await rest(url, token, "GET", `/iam/v2beta1/groups/${group}`)).status, 401);
  });

  await t.test("with the API token the workload sees its group, and nothing else", async () => {
    assert.equal((await asWorkload("GET", `/iam/v2beta1/groups/${group}`)).body.name, "walkthrough");
    const { body } = await asWorkload("GET", "/iam/v2beta1/groups");
    assert.deepEqual([body.groups.map((each: { uid: string }) => each.uid), body.totalCount], [[group], "1"]);
    assertDenied(await asWorkload("GET", `/iam/v2beta1/groups/${organization}`), "groups.list", organization);
  });

  await t.test("with the API token the workload neither creates an identity nor deletes its group", async () => {
    assertDenied(
      await asWorkload("POST", `/iam/v2beta1/identities/${group}`, {
        name: "helper",
        claimMatch: { issuer: provider.issuer, subject: "x" },
      }),
      "identity.create",
      group,
    );
    assertDenied(await asWorkload("DELETE", `/iam/v2beta1/groups/${group}`), "groups.delete", group);
  });

  await t.test("a group with an identity and a role binding cannot be deleted", async () => {
    const { status, body } = await asOwner("DELETE", `/iam/v2beta1/groups/${group}`);
    assert.deepEqual([status, body.code], [400, 9]);
    assert.equal(body.message, "Precondition failed: cannot delete group with child identities, role bindings");
    const [info, failure] = body.details;
    assert.deepEqual(info, {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "FAILED_PRECONDITION",
      domain: "iam.gatehouse.internal",
    });
    assert.equal(failure["@type"], "type.googleapis.com/google.rpc.PreconditionFailure");
    assert.equal(failure.violations[0].type, "RESOURCE_NOT_EMPTY");
    assert.equal(failure.violations[0].description, body.message);
  });

  await t.test("the binding goes first, and with it the rights of the workload", async () => {
    assertDeleted(await asOwner("DELETE", `/iam/v2beta1/roleBindings/${binding}`));
    assertDenied(await asWorkload("GET", `/iam/v2beta1/groups/${group}`), "groups.list", group);
  });

  await t.test("then the identity, and with it the token", async () => {
    assertDeleted(await asOwner("DELETE", `/iam/v2beta1/identities/${identity}`));
    const { status, body } = await asWorkload("GET", `/iam/v2beta1/groups/${group}`);
    assert.deepEqual([status, body.code], [401, 16]);
  });

  await t.test("then the group, which is gone", async () => {
    assertDeleted(await asOwner("DELETE", `/iam/v2beta1/groups/${group}`));
    const { status, body } = await asOwner("GET", `/iam/v2beta1/groups/${group}`);
    assert.deepEqual([status, body.code, body.details[0].reason], [404, 5, "NOT_FOUND"]);
  });
}

function assertTime(text: string): void {
  assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
}

function assertDeleted({ status, body }: RestReply): void {
  assert.deepEqual([status, body], [200, undefined]);
}

function assertDenied({ status, body }: RestReply, capability: string, scope: string): void {
  assert.deepEqual([status, body.code], [403, 7]);
  assert.deepEqual(body.details[0].metadata, { capability, scope });
}

function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}
