// `npm run suites -- monitoring`: alerts and dashboards with a real Prometheus, which scrapes servers under load. Not a part of `npm test`,
// since Prometheus comes from Debian. Grafana is not there: its queries are sent to Prometheus as it sends them.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dataDirectory, type Running, start } from "../cli/process.ts";
import { openSink, type Sink, status } from "../events/sink.ts";
import { signInAs, signInUrl } from "../harness/browser.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { type Collector, startCollector } from "../observe/otlp-collector.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { alertsFile } from "./monitoring-files.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

if (spawnSync("promtool", ["--version"]).status !== 0) {
  console.error("suite monitoring is skipped: it needs a program that is not here: apt-get install prometheus");
  process.exit(0);
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly exemplar: boolean }[];
  }[];
}

/** The queries of all dashboards, with the titles of their panels. */
const queries = globSync("deploy/grafana/*.json").flatMap((file) => {
  const { panels }: Dashboard = JSON.parse(readFileSync(file, "utf8"));
  return panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
});

/** Writes the variables of Grafana as it does for all servers of one job. */
function resolved(expr: string): string {
  return expr.replaceAll("$job", "gatehouse").replaceAll("$instance", ".*").replaceAll("$__rate_interval", "10s");
}

describe("the alerts", () => {
  it("the alerts are valid", () => {
    execFileSync("promtool", ["check", "rules", alertsFile], { stdio: "pipe" });
  });

  it("fire when they must, with their texts, and do not fire otherwise", () => {
    const { status: code, stdout, stderr } = spawnSync("promtool", ["test", "rules", "test/deploy/alerts.yml"]);
    assert.equal(code, 0, `${stdout}${stderr}`);
  });

  it("the alerts are found by the configuration of the compose file", () => {
    execFileSync("promtool", ["check", "config", "deploy/compose/prometheus.yml"], { stdio: "pipe" });
  });
});

/** A server as a process, and what its load needs. */
interface Target {
  readonly url: string;
  readonly metrics: string;
  readonly running: Running;
  readonly token: string;
}

describe("Prometheus, which scrapes servers under load", { timeout: 240_000 }, () => {
  const data = [dataDirectory(), dataDirectory()] as const;
  const stopping = new AbortController();
  const servers: Target[] = [];
  let collector: Collector;
  let sink: Sink;
  let prometheus: Prometheus;
  let loads: Promise<unknown> = Promise.resolve();

  before(async () => {
    collector = await startCollector();
    sink = await openSink();
    sink.answer = status(503);
    const [tlsCert, tlsKey] = [path.join(data[0].path, "cert.pem"), path.join(data[0].path, "key.pem")];
    writeFileSync(tlsCert, certificate);
    writeFileSync(tlsKey, certificateKey, { mode: 0o600 });
    servers.push(await startServer(data[0].path, "https", ["--tls-cert", tlsCert, "--tls-key", tlsKey], 2));
    const database = await newPostgresDatabase();
    // The database is not a standby of itself: it answers all lists as the primary.
    servers.push(
      await startServer(data[1].path, "http", ["--database-url", database, "--database-replica-url", database]),
    );
    prometheus = await startPrometheus(
      alertsFile,
      servers.map(({ metrics }) => metrics),
    );
    loads = Promise.all(servers.map((server) => load(server)));
    loads.catch(() => {});
  });
  after(async () => {
    stopping.abort();
    await loads.catch(() => {});
    for (const { running } of servers) running.child.kill("SIGTERM");
    await Promise.all(servers.map(({ running }) => running.finished));
    for (const each of [prometheus, sink, collector]) await each?.[Symbol.asyncDispose]();
    for (const each of data) each[Symbol.dispose]();
    await stopPostgres();
  });

  async function startServer(folder: string, scheme: string, args: readonly string[], workers = 1): Promise<Target> {
    const [listen, metrics] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const url = `${scheme}://${listen}`;
    const own = ["--listen", listen, "--metrics-listen", metrics, "--data-dir", folder, "--base-url", url, ...args];
    const run = (...mode: string[]) =>
      start(["serve", ...mode, ...own], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    let running = run("--dev");
    await running.said(/curl/);
    const token = readFileSync(path.join(folder, "owner-token"), "utf8").trim();
    if (workers > 1) {
      // Development mode makes the data, and has no workers.
      running.child.kill("SIGTERM");
      await running.finished;
      running = run("--workers", String(workers));
      await running.said(/secrets/);
    }
    return { url, metrics, running, token };
  }

  /** Calls a server until the end: lists, writes, denials, rejected tokens, exchanges, sign-ins and events. */
  async function load({ url, token }: Target): Promise<void> {
    const send = async (method: string, target: string, bearer: string, body?: object) => {
      const headers = { authorization: `Bearer ${bearer}`, ...(body && { "content-type": "application/json" }) };
      const response = await fetch(url + target, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return (await response.json()) as { readonly groups?: readonly { readonly uid: string }[] };
    };
    const { groups } = await send("GET", "/iam/v2beta1/groups?uidp.in_root=true", token);
    const { uid } = groups![0]!;
    await send("POST", `/events/v2beta1/subscriptions/${uid}`, token, { sink: sink.url });
    for (let i = 0; !stopping.signal.aborted; i++) {
      await send("POST", `/iam/v2beta1/groups/${uid}`, token, { name: `load ${i}` });
      // Each page has another size: the database must answer it.
      await send("GET", `/iam/v2beta1/groups?uidp.descendants_of=${uid}&page_size=${(i % 200) + 1}`, token);
      await send("GET", `/iam/v2beta1/groups?uidp.descendants_of=${uid}`, "a.b.c");
      await send("POST", `/sts/exchange?aud=${new URL(url).origin}`, "a.b.c");
      if (i % 10 === 0 && url.startsWith("http:")) await signInAs("alice", signInUrl(url));
      await sleep(20);
    }
  }

  it("scrapes all of them without an error", async () => {
    await until("two healthy targets", async () => {
      const { activeTargets } = await prometheus.get("targets");
      const states = activeTargets.map(({ health, lastError }: Record<string, string>) => `${health}${lastError}`);
      return states.join() === "up,up" ? true : undefined;
    });
  });

  for (const { title, expr } of queries)
    it(`Prometheus has data of servers under load for "${title}": ${expr}`, async () => {
      // A rate needs two samples.
      const series = await until(
        "data",
        async () => {
          // A quantile of no calls is not a number: a method may have been called only before.
          const found = (await prometheus.query(resolved(expr))).filter(({ value }) => value[1] !== "NaN");
          return found.length > 0 ? found : undefined;
        },
        60_000,
      );
      assert.ok(series.every(({ value }) => Number(value[1]) >= 0));
    });

  it("Prometheus has exemplars of servers under load that lead to traces of the collector", async () => {
    const { expr } = queries.find(({ exemplar }) => exemplar)!;
    const range = `start=${Date.now() / 1000 - 300}&end=${Date.now() / 1000 + 10}`;
    const found: { seriesLabels: Record<string, string>; exemplars: { labels: { trace_id: string } }[] }[] =
      await prometheus.get(`query_exemplars?query=${encodeURIComponent(resolved(expr))}&${range}`);
    // One server has workers, whose metrics are added up.
    assert.equal(new Set(found.map(({ seriesLabels }) => seriesLabels.instance)).size, 2);
    const known = new Set(collector.spans.map(({ traceId }) => traceId));
    const ids = found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
    assert.ok(ids.some((id) => known.has(id)));
  });

  it("evaluates all alerts, and finds no server down", async () => {
    const { groups } = await prometheus.get("rules");
    const rules: { name: string; health: string; state: string }[] = groups.flatMap(
      (group: { rules: object[] }) => group.rules,
    );
    assert.deepEqual([...new Set(rules.map(({ health }) => health))], ["ok"]);
    assert.equal(rules.find(({ name }) => name === "GatehouseDown")?.state, "inactive");
  });
});
