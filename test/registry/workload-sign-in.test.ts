// Workloads that sign in to the registry with a token of their own issuer: which audiences of that token are accepted.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "../sts/outside.ts";
import { basic, getToken } from "./sign-in.ts";

after(stopPostgres);

const pullRole = builtInRoles.find(({ name }) => name === "registry.pull")!;

/** The service name of a registry, and whether a token for it and for the API signs in: in development, on loopback. */
const services: readonly (readonly [service: string, forRegistry: boolean, forApi: boolean])[] = [
  ["registry.example.org", true, false],
  ["registry.gatehouse.internal", false, true],
  ["localhost:5000", true, false],
];

for (const [service, forRegistry, forApi] of services) {
  it(`the registry ${service} accepts a workload's token for ${forRegistry ? "the registry" : "the API"} only, and no exchange accepts one for the registry`, async () => {
    await using server = await startTestServer({ database: databases[0]!, settings: { registryService: service } });
    const key = keyPair("ES256");
    await using provider = await startIssuer(key);
    const { uid } = await create(`identities/${server.groupUid}`, {
      name: "ci",
      claimMatch: { issuer: provider.url, subject: "ci" },
    });
    await create(`roleBindings/${server.groupUid}`, { identityUid: uid, roleUid: pullRole.uid });
    await rest(server.url, server.ownerToken, "POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: "app" });
    const scope = `repository:${server.groupUid}/app:pull`;
    for (const [audience, isAccepted] of [
      [service, forRegistry],
      [server.config.baseUrl, forApi],
      ["https://elsewhere.example", false],
    ] as const) {
      const exp = Math.floor(Date.now() / 1000) + 600;
      const token = await signOutside(key, { iss: provider.url, sub: "ci", aud: audience, exp });
      for (const user of [uid, server.groupUid]) {
        const { status, access } = await getToken(server.url, basic(user, token), [scope], service);
        assert.deepEqual([status, access], isAccepted ? [200, [scope]] : [401, undefined], `${user} ${audience}`);
      }
      const query = new URLSearchParams({ identity: uid, aud: server.config.baseUrl });
      const exchanged = await rest(server.url, token, "GET", `/sts/exchange?${query}`);
      assert.equal(exchanged.status, audience === server.config.baseUrl ? 200 : 403, audience);
    }

    // behaviour.md §10.5: the audience of a pull token is the address of the API.
    const pair = keyPair("RS256", "pull-token");
    const keys = { issuer: "https://pull.example.org", subject: "laptop", issuerKeys: keySetText(pair) };
    const pull = await create(`identities/${server.groupUid}`, { name: "laptop", staticKeys: keys });
    const exp = Math.floor(Date.now() / 1000) + 600;
    const claims = { iss: keys.issuer, sub: keys.subject, aud: server.config.baseUrl, exp };
    const password = await signOutside({ ...pair, kid: undefined }, claims);
    assert.equal((await getToken(server.url, basic(pull.uid, password), [], service)).status, 200);

    async function create(path: string, body: object) {
      const created = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/${path}`, body);
      assert.equal(created.status, 200, JSON.stringify(created.body));
      return created.body;
    }
  });
}
