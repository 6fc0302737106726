// Tests of a server's metrics about sign-ins, keys, the database and events.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { dataDirectory } from "../cli/process.ts";
import { openSink, startSendingServer, status } from "../events/sink.ts";
import { signInAs, signInUrl } from "../harness/browser.ts";
import { databases } from "../harness/databases.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { certificate, certificateKey, renewedCertificate } from "../transport/certificate.ts";

/** Reads metrics by name with labels, as in `name{label="value"}`. */
async function readMetrics(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map([...text.matchAll(/^([^#\s][^ ]*) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]));
}

for (const database of databases)
  describe(`metrics of a server on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    it("count sign-ins by outcome", async () => {
      await signInAs("alice", signInUrl(server.url));
      await fetch(signInUrl(server.url, { audience: "unknown" }), { redirect: "manual" });
      const metrics = await readMetrics(server.url);
      const counts = ["completed", "denied", "failed"].map((one) =>
        metrics.get(`gatehouse_sign_ins_total{outcome="${one}"}`),
      );
      assert.deepEqual(counts, [1, 1, 0]);
    });

    it("count token exchanges and refreshes by outcome", async () => {
      const post = (path: string, token: string) =>
        fetch(server.url + path, { method: "POST", headers: { authorization: `Bearer ${token}` } });
      const exchange = `/sts/exchange?aud=${server.config.baseUrl}&identity=${server.ownerUid}`;
      const statuses = [server.ownerToken, "a.b.c", "x"].map(async (token) => (await post(exchange, token)).status);
      assert.deepEqual(await Promise.all(statuses), [200, 403, 403]);
      assert.equal((await post("/sts/exchange_refresh_token", "x")).status, 401);
      const metrics = await readMetrics(server.url);
      const countsOf = (name: string) =>
        ["issued", "denied", "failed"].map((one) => metrics.get(`${name}{outcome="${one}"}`));
      assert.deepEqual(countsOf("gatehouse_token_exchanges_total"), [1, 2, 0]);
      assert.deepEqual(countsOf("gatehouse_token_refreshes_total"), [0, 1, 0]);
    });

    it("have the time of the signing key, the size of the database, and durations of statements and transactions", async () => {
      const before = await readMetrics(server.url);
      const groups = `/iam/v2beta1/groups/${server.groupUid}`;
      await rest(server.url, server.ownerToken, "POST", groups, { name: "measured" });
      const context = { actor: "", method: "test", requestId: "", time: server.clock() };
      await assert.rejects(server.server.database.write(context, () => Promise.reject(new Error("broken"))));
      const apply = "/gatehouse/apply/v1/resources:apply";
      const planned = {
        groupUid: server.groupUid,
        validateOnly: true,
        resources: [{ organization: { name: "example.org" } }, { group: { name: "planned" } }],
      };
      const { status, body } = await rest(server.url, server.ownerToken, "POST", apply, planned);
      assert.deepEqual([status, body.changes.length], [200, 1]);
      const metrics = await readMetrics(server.url);
      const grown = (name: string) => (metrics.get(name) ?? 0) - (before.get(name) ?? 0);
      assert.ok(grown('gatehouse_database_statement_duration_seconds_count{kind="read"}') > 0);
      assert.ok(grown('gatehouse_database_statement_duration_seconds_count{kind="write"}') > 0);
      assert.equal(grown('gatehouse_database_transaction_duration_seconds_count{outcome="failed"}'), 1);
      assert.equal(grown('gatehouse_database_transaction_duration_seconds_count{outcome="rolled_back"}'), 1);
      assert.ok(grown('gatehouse_database_transaction_duration_seconds_count{outcome="committed"}') >= 1);
      assert.ok(metrics.get("gatehouse_database_size_bytes")! > 100_000);
      const keyTime = metrics.get("gatehouse_signing_key_creation_timestamp_seconds")!;
      assert.ok(keyTime > 1.7e9 && keyTime <= Date.now() / 1000);
      assert.equal(metrics.has("gatehouse_tls_certificate_expiry_timestamp_seconds"), false);
    });

    it("show the pool of PostgreSQL", async () => {
      const read = async () => {
        const metrics = await readMetrics(server.url);
        const names = [
          'connections{state="used"}',
          'connections{state="idle"}',
          "connections_max",
          "connections_pending",
        ];
        return names.map((name) => metrics.get(`gatehouse_database_${name}`));
      };
      if (database === "sqlite") return assert.deepEqual(await read(), Array(4).fill(undefined));
      // Work in the background uses a connection from time to time.
      const found = await until("a pool that nobody uses", async () => {
        const [used, ...others] = await read();
        return used === 0 ? others : undefined;
      });
      const [idle, ...others] = found;
      assert.ok(idle! > 0);
      assert.deepEqual(others, [16, 0]);
    });
  });

describe("metrics of a server that delivers events", () => {
  it("have the number of waiting deliveries, and the age of the oldest event", async () => {
    await using sink = await openSink();
    await using server = await startSendingServer();
    sink.answer = status(500);
    const subscription = { sink: sink.url };
    const path = `/events/v2beta1/subscriptions/${server.groupUid}`;
    for (let i = 0; i < 2; i++) await rest(server.url, server.ownerToken, "POST", path, subscription);
    await sink.wait(2);
    const metrics = await readMetrics(server.url);
    // Each has the event of its own creation, and the first one that of the second.
    assert.equal(metrics.get("gatehouse_event_queue_deliveries"), 3);
    const age = metrics.get("gatehouse_event_queue_age_seconds")!;
    assert.ok(age > 0 && age < 60, `${age}`);
  });
});

describe("metrics of a server with TLS", () => {
  it("have the expiry of the certificate, also of one that replaces it", async () => {
    using folder = dataDirectory();
    const [tlsCert, tlsKey] = [path.join(folder.path, "cert.pem"), path.join(folder.path, "key.pem")];
    writeFileSync(tlsCert, certificate);
    writeFileSync(tlsKey, certificateKey, { mode: 0o600 });
    const metricsListen = `127.0.0.1:${await freePort()}`;
    const settings = { tlsCert, tlsKey, metricsListen, baseUrl: "https://localhost" };
    await using server = await startTestServer({ settings });
    const shown = async () =>
      (await readMetrics(`http://${metricsListen}`)).get("gatehouse_tls_certificate_expiry_timestamp_seconds");
    const expiryOf = (pem: string) => Date.parse(new X509Certificate(pem).validTo) / 1000;
    assert.equal(await shown(), expiryOf(certificate));
    const tls = { file: tlsCert, cert: renewedCertificate, key: certificateKey };
    await server.server.reload({ ...server.config, tls });
    assert.equal(await shown(), expiryOf(renewedCertificate));
    assert.notEqual(expiryOf(renewedCertificate), expiryOf(certificate));
  });
});
