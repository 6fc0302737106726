// The endpoints outside of the API: probes, metrics, discovery.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { version } from "../../src/base/version.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

let server: TestServer;

/** Returns the status, the tag and the body of a page over HTTP/2. */
async function getHttp2(path: string, headers: Record<string, string>): Promise<[number, string, string]> {
  const session = connect(server.url);
  try {
    const stream = session.request({ ":path": path, ...headers });
    const [[reply], body] = await Promise.all([once(stream, "response"), text(stream)]);
    return [reply[":status"], reply.etag, body];
  } finally {
    session.destroy();
  }
}

/** Returns a page as a browser or a probe gets it, without a token. */
function get(path: string, method = "GET"): Promise<Response> {
  return fetch(server.url + path, { method });
}

describe("pages", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [path, answer] of [
    ["/healthz", "ok\n"],
    ["/readyz", "ready\n"],
  ] as const) {
    it(`${path} tells a probe that all is well`, async () => {
      const reply = await get(path);
      assert.deepEqual(
        [reply.status, await reply.text(), reply.headers.get("cache-control")],
        [200, answer, "no-store"],
      );
    });

    it(`${path} answers HEAD without a body and rejects what would change something`, async () => {
      assert.equal(await (await get(path, "HEAD")).text(), "");
      const refused = await get(path, "POST");
      assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "GET, HEAD"]);
    });
  }

  it("/metrics counts calls by method, transport and code, and tells nothing of callers", async () => {
    await rest(server.url, server.ownerToken, "GET", "/iam/v2beta1/groups");
    await rest(server.url, undefined, "GET", "/iam/v2beta1/groups");
    const reply = await get("/metrics");
    const lines = await reply.text();
    assert.match(reply.headers.get("content-type") ?? "", /^text\/plain/);
    for (const code of ["OK", "UNAUTHENTICATED"]) {
      const line = lines.split("\n").find((each) => each.includes("_count{") && each.includes(`"${code}"`));
      assert.match(line ?? "", /GroupsService\/ListGroups/, code);
      assert.match(line ?? "", /"rest"/, code);
    }
    assert.doesNotMatch(lines, new RegExp(server.ownerUid));
  });

  // OpenMetrics: the name of a counter ends in _total.
  it("/metrics gives counters, and nothing else, the suffix _total", async () => {
    const types = (await (await get("/metrics")).text()).matchAll(/^# TYPE (gatehouse_\S+) (\S+)$/gm);
    const named = Array.from(types, ([, name = "", type]) => ({ name, type }));
    const counts = named.filter(({ type, name }) => type !== "histogram" && !name.endsWith("_info"));
    for (const { name, type } of counts) assert.equal(type, name.endsWith("_total") ? "counter" : "gauge", name);
    assert.ok(counts.filter(({ type }) => type === "counter").length >= 8);
    const gauges = counts.filter(({ type }) => type === "gauge").map(({ name }) => name.replace(/^gatehouse_/, ""));
    assert.deepEqual(gauges.sort(), [
      "cache_entries",
      "database_connections",
      "database_connections_max",
      "database_connections_pending",
      "database_size_bytes",
      "event_dispatch_lag_seconds",
      "event_queue_age_seconds",
      "event_queue_deliveries",
      "image_queue_age_seconds",
      "image_queue_failed",
      "image_queue_images",
      "package_evaluation_queue_packages",
      "read_cache_bytes",
      "signing_key_creation_timestamp_seconds",
      "tls_certificate_expiry_timestamp_seconds",
      "watches",
    ]);
  });

  // Prometheus joins other metrics with it by instance.
  it("/metrics says what runs", async () => {
    const lines = await (await get("/metrics")).text();
    const { version: node } = process;
    const line = `gatehouse_build_info{version="${version}",node="${node.slice(1)}"} 1`;
    assert.match(lines, /^# TYPE gatehouse_build_info gauge$/m);
    assert.ok(lines.split("\n").includes(line), line);
  });

  it("/metrics says how often clients have met the limits of the port", async () => {
    const met = async () =>
      /^gatehouse_limits_met_total\{limit="headers"\} (\d+)$/m.exec(await (await get("/metrics")).text());
    const before = Number((await met())?.[1]);
    const headers = { "x-long": "x".repeat(40_000) };
    const refused = await fetch(`${server.url}/healthz`, { headers });
    assert.deepEqual(
      [refused.status, refused.headers.get("content-type"), await refused.text()],
      [431, "text/plain; charset=utf-8", "the target and the headers of the request are too long, or too many\n"],
    );
    assert.equal(Number((await met())?.[1]), before + 1);
  });

  it("discovery leads to the keys, by which anybody verifies a token of ours", async () => {
    const discovery = await get("/.well-known/openid-configuration");
    assert.match(discovery.headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
    const document = (await discovery.json()) as { issuer: string; jwks_uri: string };
    assert.equal(document.issuer, server.config.baseUrl);
    const keys = await (await fetch(document.jwks_uri)).json();
    const options = { issuer: document.issuer, audience: server.config.baseUrl };
    const { payload, protectedHeader } = await jwtVerify(server.ownerToken, createLocalJWKSet(keys as never), options);
    assert.deepEqual([payload.sub, protectedHeader.alg], [server.ownerUid, "ES256"]);
  });

  for (const name of ["v2beta1", "v2", "v1", "auth", "gatehouse"]) {
    const path = `/openapi/${name}.json`;
    it(`${path} describes the API at the address of this server, and may be kept`, async () => {
      const reply = await get(path);
      const { openapi, info, servers } = (await reply.json()) as Record<string, unknown>;
      assert.deepEqual([reply.status, reply.headers.get("content-type")], [200, "application/json"]);
      assert.match(reply.headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
      assert.deepEqual([openapi, servers], ["3.1.0", [{ url: server.config.baseUrl }]]);
      assert.match(JSON.stringify(info), new RegExp(`"Gatehouse ${name}"`));
    });

    it(`${path} is not sent again to a client with the current version (RFC 9110 §13.1.2)`, async () => {
      const etag = (await get(path)).headers.get("etag") ?? "";
      assert.match(etag, /^"[\w-]+"$/);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const reply = await fetch(server.url + path, { headers: { "if-none-match": known } });
        assert.deepEqual([reply.status, await reply.text(), reply.headers.get("etag")], [304, "", etag], known);
        assert.deepEqual(
          await getHttp2(path, { "if-none-match": known, "accept-encoding": "gzip" }),
          [304, etag, ""],
          known,
        );
      }
      assert.equal((await fetch(server.url + path, { headers: { "if-none-match": '"other"' } })).status, 200);
    });
  }

  it("the published keys have no private members", async () => {
    const { jwks_uri } = (await (await get("/.well-known/openid-configuration")).json()) as { jwks_uri: string };
    const { keys } = (await (await fetch(jwks_uri)).json()) as { keys: Record<string, unknown>[] };
    assert.deepEqual(keys.map(({ alg }) => alg).sort(), ["ES256", "RS256"]);
    const members = {
      ES256: ["alg", "crv", "kid", "kty", "use", "x", "y"],
      RS256: ["alg", "e", "kid", "kty", "n", "use"],
    };
    for (const key of keys) assert.deepEqual(Object.keys(key).sort(), members[key.alg as keyof typeof members]);
  });
});

describe("metrics on a port of their own", () => {
  it("are there for all who reach it, behind proxies too, and not on the port of the API", async () => {
    const metricsListen = `127.0.0.1:${await freePort()}`;
    await using own = await startTestServer({ settings: { metricsListen } });
    assert.equal((await fetch(`${own.url}/metrics`)).status, 404);
    const reply = await fetch(`http://${metricsListen}/metrics`, { headers: { "x-forwarded-for": "192.0.2.1" } });
    assert.equal(reply.status, 200);
    assert.match(await reply.text(), /gatehouse_build_info/);
    // Nothing else is there.
    for (const [method, path, status] of [
      ["GET", "/iam/v2beta1/groups", 404],
      ["GET", "/readyz", 404],
      ["POST", "/metrics", 405],
    ] as const) {
      const other = await fetch(`http://${metricsListen}${path}`, { method, ...(method === "POST" && { body: "x" }) });
      assert.equal(other.status, status, path);
    }
    await own.server.drain();
    await assert.rejects(fetch(`http://${metricsListen}/metrics`));
  });

  it("a server whose metrics port is taken does not start", async () => {
    await using other = await startTestServer();
    const listen = `127.0.0.1:${await freePort()}`;
    const metricsListen = new URL(other.url).host;
    await assert.rejects(startTestServer({ settings: { listen, metricsListen } }), {
      message: `metrics-listen: ${metricsListen} is taken by another program; --metrics-listen names another.`,
    });
    await assert.rejects(fetch(`http://${listen}/healthz`));
  });
});
