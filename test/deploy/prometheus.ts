// A real Prometheus on a free port, which scrapes metrics every second.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";

/** A series of the response to a query. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** A running Prometheus. */
export interface Prometheus extends AsyncDisposable {
  /** Returns the series of an instant query. */
  query(expr: string): Promise<readonly Series[]>;
  /** Returns the `data` of a response of its API. */
  // biome-ignore lint/suspicious/noExplicitAny: the assertions say what it must be
  get(path: string): Promise<any>;
}

/** Starts Prometheus with these rules, and targets as `host:port` in the job `gatehouse`. */
export async function startPrometheus(rules: string, targets: readonly string[]): Promise<Prometheus> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-prometheus-"));
  copyFileSync(rules, path.join(folder, "rules.yml"));
  const configuration = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ["rules.yml"],
    scrape_configs: [{ job_name: "gatehouse", static_configs: [{ targets }] }],
  };
  // JSON is YAML.
  writeFileSync(path.join(folder, "prometheus.yml"), JSON.stringify(configuration));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    "prometheus",
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
      "--enable-feature=exemplar-storage",
      "--log.level=error",
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const exited = once(child, "exit");
  const end = async () => {
    child.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const get: Prometheus["get"] = async (target) => {
    const response = await fetch(`http://${address}/api/v1/${target}`);
    const { status, error, data } = (await response.json()) as { status: string; error?: string; data: unknown };
    if (status !== "success") throw new Error(`${target}: ${error}`);
    return data;
  };
  const isReady = async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("Prometheus does not start");
    return (
      (await fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )) || undefined
    );
  };
  try {
    await until("Prometheus", isReady, 30_000);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    get,
    query: async (expr) => (await get(`query?query=${encodeURIComponent(expr)}`)).result,
    [Symbol.asyncDispose]: end,
  };
}
