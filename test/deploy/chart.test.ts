// The chart, without the programs of Kubernetes: `npm run suites -- helm` has those.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { version } from "../../src/base/version.ts";
import { chartFolder } from "./chart.ts";
import { valuesSchema } from "./values-schema.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

const read = (file: string) => readFileSync(`${chartFolder}/${file}`, "utf8");

/** Returns the paths of values that the schema does not know. */
function unknownValues(values: unknown, schema: Schema | undefined, path = ""): string[] {
  if (!schema) return [path];
  if (typeof values !== "object" || values === null || Array.isArray(values) || !schema.properties) return [];
  return Object.entries(values).flatMap(([name, value]) =>
    unknownValues(value, schema.properties?.[name], path === "" ? name : `${path}.${name}`),
  );
}

describe("the chart", () => {
  it("the chart has the version of the program", () => {
    const chart = parse(read("Chart.yaml"));
    assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  });

  it("the schema of the chart is up to date with the settings: npx node test/deploy/write-values-schema.ts", () => {
    assert.deepEqual(JSON.parse(read("values.schema.json")), JSON.parse(valuesSchema()));
  });

  it("the chart has a rule for each value, and a value for each rule", () => {
    const schema: Schema = JSON.parse(valuesSchema());
    const values = parse(read("values.yaml"));
    assert.deepEqual(unknownValues(values, schema), []);
    const missing = Object.keys(schema.properties ?? {}).filter((name) => name !== "global" && !(name in values));
    assert.deepEqual(missing, []);
  });

  it("listens on every address of both families, for clusters with only IPv6", () => {
    const listened = [...read("templates/_helpers.tpl").matchAll(/"(?:metrics-)?listen" .*/g)].map(String);
    assert.equal(listened.length, 2);
    for (const line of listened) assert.match(line, /\[::\]:/);
    assert.match(readFileSync("deploy/Containerfile", "utf8"), /GATEHOUSE_LISTEN=\[::\]:8080/);
  });

  it("the chart has user and groups of its pods as values that OpenShift can choose", () => {
    const { podSecurityContext, securityContext } = parse(read("values.yaml"));
    assert.deepEqual([podSecurityContext.runAsNonRoot, podSecurityContext.runAsUser], [true, 65532]);
    assert.equal(securityContext.readOnlyRootFilesystem, true);
    const { podSecurityContext: unset } = parse(read("ci/openshift-values.yaml"));
    assert.deepEqual([unset.runAsUser, unset.runAsGroup, unset.fsGroup], [null, null, null]);
    for (const file of ["deployment.yaml", "migration-job.yaml", "tests/ready.yaml"])
      assert.doesNotMatch(read(`templates/${file}`), /runAs|fsGroup:/);
  });

  it("the chart does not take a secret as a value", () => {
    const schema = JSON.parse(valuesSchema()) as { properties: { settings: Schema } };
    const rule = schema.properties.settings.properties?.["secrets-key"] as Readonly<Record<string, unknown>>;
    assert.deepEqual(rule.not, {});
  });
});
