// Alerts and dashboards, without Prometheus: `npm run suites -- monitoring` has that.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { startTestServer } from "../harness/server.ts";
import { alertsFile, monitoringFiles } from "./monitoring-files.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface AlertTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

const groups: readonly { readonly rules: readonly Rule[] }[] = parse(readFileSync(alertsFile, "utf8")).groups;
const rules = groups.flatMap((group) => group.rules);
const runbook = readFileSync("docs/operate/alerts.md", "utf8");
const metricsPage = readFileSync("docs/reference/metrics.md", "utf8");

/** Returns the names of metrics in queries, without what Prometheus adds to those of histograms. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:gatehouse|nodejs|process)_\w+/g) ?? [];
  return names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ""));
}

describe("alerts", () => {
  it("alerts have a severity, and a runbook that is a section of docs/operate/alerts", () => {
    for (const { alert, labels, annotations } of rules) {
      assert.ok(["critical", "warning"].includes(labels.severity ?? ""), alert);
      assert.ok(annotations.summary, alert);
      const [page, section] = annotations.runbook_url?.split("#") ?? [];
      assert.equal(page, "https://gatehouse.example.com/docs/operate/alerts");
      assert.equal(section, alert.toLowerCase());
      assert.match(runbook, new RegExp(`^## ${alert}$`, "m"));
    }
  });

  it("a Gatehouse server has the page and the section of each alert's runbook URL", async () => {
    await using server = await startTestServer({});
    for (const { annotations } of rules) {
      const { pathname, hash } = new URL(annotations.runbook_url ?? "");
      const page = await fetch(server.url + pathname);
      assert.equal(page.status, 200, pathname);
      assert.ok((await page.text()).includes(`id="${hash.slice(1)}"`), hash);
    }
    const { runbookUrl } = parse(readFileSync("deploy/helm/gatehouse/values.yaml", "utf8")).metrics.prometheusRule;
    assert.equal((await fetch(server.url + new URL(runbookUrl).pathname)).status, 200);
  });

  it("the alerts and the sections of the runbook are the same", () => {
    const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    assert.deepEqual(
      sections,
      rules.map(({ alert }) => alert),
    );
  });

  it("each alert has a test that it fires, and one that it does not", () => {
    const { tests }: AlertTests = parse(readFileSync("test/deploy/alerts.yml", "utf8"));
    const all = tests.flatMap((one) => one.alert_rule_test);
    for (const { alert } of rules) {
      const counts = all.filter(({ alertname }) => alertname === alert).map((one) => one.exp_alerts.length);
      assert.deepEqual([...new Set(counts)].sort(), [0, 1], alert);
    }
  });
});

describe("alerts and dashboards", () => {
  it("use metrics of docs/reference/metrics.md", () => {
    const texts = Object.entries(monitoringFiles()).filter(([file]) => file.startsWith("deploy/grafana/"));
    const used = metricsIn([...rules.map(({ expr }) => expr), ...texts.map(([, text]) => text)].join("\n"));
    assert.ok(used.length > 50);
    assert.deepEqual(
      [...new Set(used)].filter((name) => !metricsPage.includes(`\`${name}\``)),
      [],
    );
  });

  for (const [file, content] of Object.entries(monitoringFiles()))
    it(`${file} is current: npx node test/deploy/write-monitoring.ts`, () => {
      // The formatter breaks lines of JSON elsewhere.
      const read = (text: string) => (file.endsWith(".json") ? JSON.parse(text) : text);
      assert.deepEqual(read(readFileSync(file, "utf8")), read(content));
    });
});
