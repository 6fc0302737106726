// A token has room for so many mappings: which ones it takes is the same every time, and the log says that it takes not all.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { LoginProvider } from "../../src/sign-in/login-provider.ts";
import { findMappings } from "../../src/sign-in/mapped-groups.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";
import { viewerRole } from "../security/tree.ts";

after(stopPostgres);

for (const database of databases) {
  it(`a token carries the first 150 mappings by uid, and the log says that there are more, ${database}`, async () => {
    await using server = await startTestServer({ database });
    const create = async (path: string, body: object) => {
      const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/${path}`, body);
      assert.equal(created.status, 200, JSON.stringify(created.body));
      return created.body.uid as string;
    };
    await rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/groups/${server.groupUid}`, { verified: true });
    const provider = await create(`identityProviders/${server.groupUid}`, {
      name: "own",
      defaultRole: viewerRole.uid,
      oidc: { issuer: "https://sso.acme.test", clientId: "gatehouse", clientSecret: "canary", groupsClaim: "groups" },
    });
    const groups = Array.from({ length: 151 }, (_, i) => `group-${i}`);
    const uids: string[] = [];
    for (const externalGroupId of groups) {
      const mapping = { externalGroupId, roleUid: viewerRole.uid, scope: server.groupUid };
      uids.push(await create(`externalGroupRoleMappings/${provider}`, mapping));
    }
    const warnings: unknown[] = [];
    const deps = {
      session: server.server.database.session,
      log: { warn: (event: unknown) => void warnings.push(event) },
    };
    const own = { uid: provider, organization: { groupsClaim: "groups" } } as LoginProvider;

    assert.deepEqual(await findMappings(deps, own, { groups }), uids.sort().slice(0, 150));
    assert.deepEqual(warnings, [{ event: "cut", provider, what: "mappings", found: 151, kept: 150 }]);
    assert.equal((await findMappings(deps, own, { groups: groups.slice(1) })).length, 150);
    assert.equal(warnings.length, 1);
    const many = Array.from({ length: 1001 }, (_, i) => `elsewhere-${i}`);
    assert.deepEqual(await findMappings(deps, own, { groups: many }), []);
    assert.deepEqual(warnings.at(-1), { event: "cut", provider, what: "groups", found: 1001, kept: 1000 });
  });
}
