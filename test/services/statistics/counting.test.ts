// Every event is counted once, however many processes count and however few entries the audit log has of them.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { accept, openSink, sending, status } from "../../events/sink.ts";
import { answersOf, newBrowser, signInUrl } from "../../harness/browser.ts";
import { databases } from "../../harness/databases.ts";
import { newMigratedDatabase } from "../../harness/migrated.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import {
  type DatabaseKind,
  type EmptyServer,
  startEmptyServer,
  startTestServer,
  type TestServerOptions,
} from "../../harness/server.ts";
import { addCaller, addGroup, ownerRole, viewerRole } from "../../security/tree.ts";
import { client, loginSettings, startUpstream } from "../../sign-in/openid-client.ts";
import { keyPair, signOutside, startIssuer } from "../../sts/outside.ts";
import { sumsOf } from "./requests.ts";

after(stopPostgres);

/** A data directory and database that outlive the servers on them. */
async function openData(database: DatabaseKind) {
  const dataDir = mkdtempSync(path.join(tmpdir(), "gatehouse-counts-"));
  const databaseUrl = database === "postgres" ? await newMigratedDatabase() : "";
  return {
    settings: { dataDir, databaseUrl },
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Denied calls: more in a minute than the audit log has entries for. */
const flood = 150;
/** Denied calls in an organization that does not know the caller. */
const strange = 7;

/** The servers that count, and their database. */
const deployments: readonly (Pick<TestServerOptions, "forwardsWrites"> & {
  readonly name: string;
  readonly database: DatabaseKind;
  readonly serverCount: number;
})[] = [
  { name: "one server on SQLite", database: "sqlite", serverCount: 1 },
  {
    name: "two processes on SQLite, of which one forwards its writes",
    database: "sqlite",
    serverCount: 1,
    forwardsWrites: true,
  },
  { name: "three servers on one PostgreSQL", database: "postgres", serverCount: 3 },
];

describe("counting", () => {
  for (const { name, database, serverCount, forwardsWrites = false } of deployments) {
    if (!databases.includes(database)) continue;
    it(`all calls to ${name} are in the statistics after the shutdown, once each`, async () => {
      using data = await openData(database);
      let group = "";
      let organization = "";
      let other = "";
      let otherToken = "";
      let token = "";
      let baseUrl = "";
      {
        await using opened = new AsyncDisposableStack();
        const one = opened.use(await startTestServer({ settings: data.settings, forwardsWrites }));
        ({ groupUid: organization, ownerToken: token } = one);
        ({ baseUrl } = one.config);
        const servers: EmptyServer[] = [one];
        while (servers.length < serverCount)
          servers.push(opened.use(await startEmptyServer({ settings: { ...data.settings, baseUrl } })));
        group = await addGroup(one, organization);
        other = await addGroup(one, null, "other");
        otherToken = (await addCaller(one, other, ownerRole.uid)).token;
        const viewer = await addCaller(one, organization, viewerRole.uid);
        const urlOf = (i: number) => servers[i % servers.length]!.url;
        const call = (i: number, by: string, method: string, of: string, body?: object) =>
          rest(urlOf(i), by, method, `/iam/v2beta1/${of}`, body);
        const denied = Array.from({ length: flood }, (_, i) => call(i, viewer.token, "DELETE", `groups/${group}`));
        const names = Array.from({ length: 30 }, (_, i) => `role-${i}`);
        const created = names.map((name, i) =>
          call(i, token, "POST", `roles/${group}`, { name, capabilities: ["CAP_IAM_GROUPS_LIST"] }),
        );
        const bound = Array.from({ length: 5 }, (_, i) =>
          call(i, token, "POST", `roleBindings/${group}`, { identityUid: viewer.uid, roleUid: viewerRole.uid }).then(
            (reply) => reply.status,
          ),
        );
        for (let i = 0; i < strange; i++) denied.push(call(i, viewer.token, "DELETE", `groups/${other}`));
        assert.deepEqual(new Set((await Promise.all(denied)).map((reply) => reply.status)), new Set([403]));
        assert.deepEqual(new Set((await Promise.all(created)).map((reply) => reply.status)), new Set([200]));
        const statuses = await Promise.all(bound);
        // The same binding again is a conflict, and changes nothing.
        assert.equal(statuses.filter((code) => code === 200).length, 1, String(statuses));
      }
      await using again = await startEmptyServer({ settings: { ...data.settings, baseUrl } });
      const place = { url: again.url, ownerToken: token };
      const metrics = ["denials", "changes", "access_changes", "exchanges"];
      assert.deepEqual(await sumsOf(place, group, metrics), {
        denials: flood,
        changes: 32,
        access_changes: 1,
        exchanges: 0,
      });
      const above = await sumsOf(place, organization, metrics);
      assert.equal(above.denials, flood + strange);
      assert.ok(above.changes! > 32, "the changes at the organization are added");
      assert.deepEqual(await sumsOf({ ...place, ownerToken: otherToken }, other, metrics.slice(0, 1)), { denials: 0 });
    });
  }
});

for (const database of databases) {
  describe(`counting on ${database}`, () => {
    it("sign-ins and exchanges count by their outcome, and deliveries by that of each attempt", async () => {
      using data = await openData(database);
      await using upstream = await startUpstream();
      await using sink = await openSink();
      const settings = { ...data.settings, ...loginSettings(upstream), ...sending };
      let baseUrl = "";
      let token = "";
      let organization = "";
      {
        await using server = await startTestServer({ settings });
        ({ groupUid: organization, ownerToken: token } = server);
        ({ baseUrl } = server.config);
        const post = async (to: string, body: object) => {
          const reply = await rest(server.url, token, "POST", to, body);
          assert.equal(reply.status, 200, JSON.stringify(reply.body));
          return reply.body;
        };
        sink.answer = (received, response) => (sink.received.length === 1 ? status(500) : accept)(received, response);
        await post(`/events/v2beta1/subscriptions/${organization}`, { sink: sink.url });
        const oidc = { issuer: upstream.issuer, clientId: client.id, clientSecret: client.secret };
        const provider = await post(`/iam/v2beta1/identityProviders/${organization}`, {
          name: "own",
          defaultRole: viewerRole.uid,
          oidc,
        });
        const visit = async (claims: object) => {
          upstream.behaviour.claims = claims as never;
          const browser = newBrowser();
          const { headers } = await browser.request(signInUrl(server.url, { idp_id: provider.uid, client_id: "" }));
          return answersOf(await browser.visit(upstream.authorize(new URL(headers.get("location")!)))).token;
        };
        assert.ok(await visit({ sub: "member" }));
        assert.ok(await visit({ sub: "member" }));
        assert.equal(await visit({ sub: "member", nonce: "another" }), undefined);
        const key = keyPair("ES256");
        await using issuer = await startIssuer(key);
        const claimMatch = { issuer: issuer.url, subject: "workload" };
        const identity = await post(`/iam/v2beta1/identities/${organization}`, { name: "ci", claimMatch });
        const now = Math.floor(Date.now() / 1000);
        const exchange = async (sub: string) => {
          const subject = await signOutside(key, { iss: issuer.url, sub, aud: baseUrl, iat: now, exp: now + 600 });
          const query = new URLSearchParams({ aud: baseUrl, identity: identity.uid });
          return (await rest(server.url, subject, "GET", `/sts/exchange?${query}`)).status;
        };
        assert.deepEqual(
          await Promise.all(["workload", "workload", "workload", "x", "y"].map(exchange)),
          [200, 200, 200, 403, 403],
        );
        await sink.wait(3);
        // An aborted delivery would have no outcome.
        await server.server.drain();
      }
      const delivered = sink.received.length - 1;
      await using again = await startEmptyServer({ settings: { ...settings, baseUrl, eventDelivery: "off" } });
      const metrics = [
        "sign_ins",
        "sign_ins_failed",
        "exchanges",
        "exchanges_failed",
        "deliveries",
        "deliveries_failed",
      ];
      const found = await sumsOf({ url: again.url, ownerToken: token }, organization, metrics);
      assert.deepEqual(found, {
        sign_ins: 2,
        sign_ins_failed: 1,
        exchanges: 3,
        exchanges_failed: 2,
        deliveries: delivered,
        deliveries_failed: 1,
      });
    });
  });
}
