// Compares docs/reference/metrics.md with what a server exposes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { startTestServer, type TestServer } from "../harness/server.ts";

interface Metric {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

const page = readFileSync("docs/reference/metrics.md", "utf8");

/** The rows of the page by the name of the metric. A row may have several. */
const documented = new Map<string, Metric>(
  page.split("\n").flatMap((line) => {
    const [, names, type, labels] = line.split("|").map((cell) => cell.trim());
    const metric = { type: type!, labels: new Set(namesIn(labels)) };
    return /^(?:counter|gauge|histogram)$/.test(type ?? "")
      ? namesIn(names).map((name) => [name, metric] as const)
      : [];
  }),
);

function namesIn(cell = ""): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
}

/** Returns the metrics in the text of Prometheus, with the labels of their samples. */
function parse(text: string): Map<string, Metric> {
  const metrics = new Map<string, Metric & { labels: Set<string> }>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    metrics.set(name!, { type: type!, labels: new Set() });
  for (const [, sample, labels] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    const metric = metrics.get(sample!) ?? metrics.get(sample!.replace(/_(?:bucket|sum|count)$/, ""));
    for (const [, label] of labels!.matchAll(/(\w+)="/g)) if (label !== "le") metric?.labels.add(label!);
  }
  return metrics;
}

/** Returns the values of a label, by the table below the line that introduces them. */
function valuesOf(label: string): string[] {
  const [table = ""] = page.split(`Values of \`${label}\`:\n`)[1]?.split("\n#") ?? [];
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, value]) => value!).sort();
}

describe("docs/reference/metrics.md", () => {
  let server: TestServer;
  let text: string;
  before(async () => {
    server = await startTestServer();
    const headers = { authorization: `Bearer ${server.ownerToken}` };
    await (await fetch(`${server.url}/iam/v2beta1/groups`, { headers })).text();
    text = await (await fetch(`${server.url}/metrics`)).text();
  });
  after(() => server[Symbol.asyncDispose]());

  it("docs/reference/metrics.md has the metrics of a server, with their types", () => {
    const exposed = parse(text);
    const typesOf = (metrics: ReadonlyMap<string, Metric>) =>
      [...metrics].map(([name, { type }]) => `${name} ${type}`).sort();
    const differing = (name: string) => exposed.has(name) !== documented.has(name);
    // Node measures some only where the system lets it.
    const isOptional = (name: string) => process.platform !== "linux" && name.startsWith("process_");
    const names = [...exposed.keys(), ...documented.keys()].filter((name) => differing(name) && !isOptional(name));
    assert.deepEqual(names, []);
    assert.deepEqual(
      typesOf(documented).filter((each) => exposed.has(each.split(" ")[0]!)),
      typesOf(exposed),
    );
  });

  it("docs/reference/metrics.md has the labels of each metric that has samples", () => {
    for (const [name, { labels }] of parse(text)) {
      // A garbage collection and deliveries may not have happened yet.
      if (labels.size === 0) continue;
      assert.deepEqual([...(documented.get(name)?.labels ?? [])].sort(), [...labels].sort(), name);
    }
  });

  for (const [label, metric] of [
    ["limit", "gatehouse_limits_met_total"],
    ["outcome", "gatehouse_event_deliveries_total"],
  ] as const) {
    it(`docs/reference/metrics.md has the values of the label ${label}`, () => {
      const found = [...text.matchAll(new RegExp(`^${metric}\\{${label}="([^"]+)"`, "gm"))].map(([, value]) => value!);
      if (found.length > 0) assert.deepEqual(valuesOf(label), found.sort());
    });
  }
});
