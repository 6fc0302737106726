// X1, X6: what belongs to no group lies beyond a token that was narrowed to some, or to capabilities.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { rest } from "../harness/rest.ts";
import { client, loginSettings, startUpstream, type Upstream } from "../sign-in/openid-client.ts";
import { type Ground, openGround } from "./ground.ts";
import { addProvider } from "./provider-tree.ts";
import { addGroup, addIdentity } from "./tree.ts";

const employer = "employer.example";

describe("a token that was narrowed", () => {
  let ground: Ground;
  let upstream: Upstream;
  let uid: string;
  let employerUid: string;
  /** An organization that has nothing to do with the person, and its provider. */
  let stranger: string;
  let provider: string;
  before(async () => {
    upstream = await startUpstream();
    const { issuer } = upstream;
    ground = await openGround({ settings: { ...loginSettings(upstream), trustedEmailIssuers: issuer } });
    const { server } = ground;
    uid = userUid(issuer, "employee");
    const person = { uid, parent: null, relationshipType: 0, relationship: { case: "", value: null } };
    await addIdentity(server, "", { ...person, issuer, subject: "employee", company: "a company" });
    const group = { name: employer, verified: true, kind: "ORG_KIND_CUSTOMER" };
    employerUid = (await rest(server.url, server.ownerToken, "POST", "/iam/v2beta1/groups", group)).body.uid;
    stranger = await addGroup(server, null, "stranger");
    provider = await addProvider(server, stranger, { issuer, clientId: "client of the stranger" });
  });
  after(async () => {
    await ground[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  async function exchange(aud: string, query: string): Promise<string> {
    const claims = { sub: "employee", aud, email: `employee@${employer}`, email_verified: true };
    const path = `/sts/exchange?aud=${ground.server.config.baseUrl}&identity=${uid}${query}`;
    const { status, body } = await rest(ground.server.url, await upstream.idToken(claims), "POST", path);
    assert.equal(status, 200, body.message);
    return body.token;
  }

  const metadata = { updatesOptIn: true };
  const calls: Readonly<Record<string, (token: string) => ReturnType<typeof rest>>> = {
    UpdateIdentityMetadata: (token) =>
      call(token, "PATCH", "v2beta1/identities:updateIdentityMetadata", { identityMetadata: metadata }),
    LookupGroup: (token) => call(token, "GET", "v2beta1/groups:lookupGroup"),
    RequestGroupAccess: (token) => call(token, "POST", `v2beta1/groups/${employerUid}:requestGroupAccess`, {}),
    "LookupGroup of version 1": (token) => call(token, "GET", "v1/groups:lookupGroup"),
    "RequestGroupAccess of version 1": (token) =>
      call(token, "POST", `v1/groups/${employerUid}:requestGroupAccess`, {}),
  };
  const call = (token: string, method: string, path: string, body?: object) =>
    rest(ground.server.url, token, method, `/iam/${path}`, body);

  const narrowings: Readonly<Record<string, () => Promise<string>>> = {
    // The operator of that client gets such tokens of any user.
    "to the organization of a provider": () => exchange("client of the stranger", `&identity_provider=${provider}`),
    "to capabilities": () => exchange(client.id, "&cap=groups.list"),
  };
  for (const [narrowing, narrowed] of Object.entries(narrowings)) {
    for (const [name, ask] of Object.entries(calls)) {
      it(`X1, X6: ${narrowing} is rejected by ${name}, and reveals nothing of the account`, async () => {
        const { status, body } = await ask(await narrowed());
        assert.equal(status, name === "UpdateIdentityMetadata" ? 403 : 404);
        assert.ok(!JSON.stringify(body).includes("a company"));
      });
    }

    it(`X1, X6: ${narrowing} is eligible for nothing`, async () => {
      const { body } = await call(await narrowed(), "GET", "v2beta1/groups:checkEligibility");
      assert.equal(body.eligible, false);
    });
  }

  for (const name of ["UpdateIdentityMetadata", "LookupGroup", "RequestGroupAccess"]) {
    it(`the whole token of a person is accepted by ${name}`, async () => {
      assert.equal((await calls[name]!(await exchange(client.id, ""))).status, 200);
    });
  }
});
