// `npm run suites -- proxy`: a trace that begins before nginx goes on in the server, down to the statements of its database.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { type Running, start } from "../../cli/process.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../../harness/postgres.ts";
import { type Collector, startCollector } from "../../observe/otlp-collector.ts";
import { isInstalled, type Nginx, type ProxySettings, proxySettings, startNginx } from "./nginx.ts";

if (!isInstalled("nginx", "-v")) {
  console.error("suite proxy is skipped: it needs a program that is not here: apt-get install nginx-light");
  process.exit(0);
}

const method = "chainguard.platform.iam.v2beta1.GroupsService/ListGroups";

for (const database of ["sqlite", "postgresql"] as const)
  describe(`a trace through nginx, on ${database}`, { timeout: 120_000 }, () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-nginx-traces-"));
    let collector: Collector;
    let server: Running;
    let nginx: Nginx;
    before(async () => {
      collector = await startCollector();
      const url = new URL(`http://127.0.0.1:${await freePort()}`);
      const data = database === "postgresql" ? ["--database-url", await newPostgresDatabase()] : [];
      server = start(["serve", "--dev", "--listen", url.host, "--data-dir", folder, ...data], {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: "100",
        // The sampling decision that nginx passes on counts, not chance.
        OTEL_TRACES_SAMPLER: "parentbased_always_off",
      });
      await server.said(/curl/);
      nginx = await startNginx(url);
    });
    after(async () => {
      server.child.kill("SIGTERM");
      await server.finished;
      for (const each of [nginx, collector]) await each[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
      await stopPostgres();
    });

    for (const [i, settings] of (Object.keys(proxySettings) as ProxySettings[]).entries())
      it(`a trace with ${settings} has the call below the client's span, and the statements below the call`, async () => {
        const traceId = String(i + 1).repeat(32);
        const token = readFileSync(path.join(folder, "owner-token"), "utf8").trim();
        const headers = { authorization: `Bearer ${token}`, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
        const target = `/iam/v2beta1/groups?name=traced-${i}`;
        const response = await fetch(nginx.urls[settings] + target, { headers });
        assert.equal(response.status, 200, await response.text());
        const spans = await collector.trace(traceId, method);
        const call = spans.find(({ name }) => name === method)!;
        assert.equal(call.parentSpanId, "00f067aa0ba902b7");
        const statements = spans.filter(({ attributes }) => attributes["db.system.name"] === database);
        assert.ok(statements.length > 0, "no statement");
        // The verification of the token, a part of the call, may read the signing keys again.
        const parts = spans.filter(({ parentSpanId }) => parentSpanId === call.spanId);
        const above = new Set([call, ...parts].map(({ spanId }) => spanId));
        for (const { parentSpanId = "" } of statements) assert.ok(above.has(parentSpanId), parentSpanId);
      });
  });
