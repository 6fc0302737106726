// Exports only read, and leave an entry in the audit log: nothing is exported while none can be written.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, describe, it } from "node:test";
import { writingServers } from "../harness/databases.ts";
import { newMigratedDatabase } from "../harness/migrated.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { openReadOnlySwitch } from "../harness/read-only.ts";
import { type RestReply, rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { untilTrue } from "../harness/until.ts";
import { viewerRole } from "../security/tree.ts";

after(stopPostgres);

/** Adds an identity provider, and returns the exports of its organization and of its secret. */
async function exportsOf({ url, ownerToken, groupUid }: TestServer) {
  const oidc = { issuer: "https://login.example.org", clientId: "client", clientSecret: "canary-secret" };
  const value = { name: "own", defaultRole: viewerRole.uid, oidc };
  const made = await rest(url, ownerToken, "POST", `/iam/v2beta1/identityProviders/${groupUid}`, value);
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const recipientKey = publicKey.export({ type: "spki", format: "pem" });
  const secret = `/gatehouse/organizations/v1/identityProviders/${made.body.uid}:exportClientSecret`;
  return {
    resource_exports: () => rest(url, ownerToken, "GET", `/gatehouse/apply/v1/groups/${groupUid}:exportResources`),
    client_secret_exports: () => rest(url, ownerToken, "POST", secret, { recipientKey }),
  } satisfies Record<string, () => Promise<RestReply>>;
}

/** Returns how many entries of a kind the audit log has. */
async function countOf({ url, ownerToken, groupUid }: TestServer, kind: string): Promise<number> {
  const path = `/gatehouse/changes/v1/changes?parent=${groupUid}&kind=${kind}`;
  return ((await rest(url, ownerToken, "GET", path)).body.changes ?? []).length;
}

for (const [title, options] of Object.entries(writingServers)) {
  describe(`an export from ${title}`, () => {
    it("an export is in the audit log once its response is there", async () => {
      await using server = await startTestServer(options);
      for (const [kind, run] of Object.entries(await exportsOf(server))) {
        const { status, body } = await run();
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(await countOf(server, kind), 1, kind);
      }
    });
  });
}

describe("an export from a server whose database is read-only", () => {
  it("an export is denied with a reason while the audit log cannot be written, and succeeds afterwards", async () => {
    const databaseUrl = await newMigratedDatabase();
    await using server = await startTestServer({ settings: { databaseUrl } });
    const exports = await exportsOf(server);
    await using readOnly = await openReadOnlySwitch(databaseUrl);
    await readOnly.turnOn();
    const group = `/iam/v2beta1/groups/${server.groupUid}`;
    // The ended sessions fail a call each.
    await untilTrue(async () => (await rest(server.url, server.ownerToken, "GET", group)).status === 200);
    for (const run of Object.values(exports)) {
      const { status, body, headers } = await run();
      assert.deepEqual(
        [status, body.message, headers.get("retry-after")],
        [503, "Unavailable: exports are recorded in the audit log, and the database cannot be written now", "1"],
      );
      assert.deepEqual(Object.keys(body).sort(), ["code", "details", "message"]);
    }
    await readOnly.turnOff();
    for (const [kind, run] of Object.entries(exports)) {
      await untilTrue(async () => (await run()).status === 200);
      assert.equal(await countOf(server, kind), 1, kind);
    }
  });
});
