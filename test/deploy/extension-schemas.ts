// The schemas of the extensions of Kubernetes that the chart uses, in the form that kubeconform reads. The definitions of the
// extensions come from the modules of their projects.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

const operator = {
  module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
  folder: "example/prometheus-operator-crd",
};
const gateway = { module: "sigs.k8s.io/gateway-api@v1.6.3", folder: "config/crd/standard" };

/** The files with the definition of each kind. */
const definitions = [
  { ...operator, file: "monitoring.coreos.com_prometheusrules.yaml" },
  { ...operator, file: "monitoring.coreos.com_servicemonitors.yaml" },
  { ...gateway, file: "gateway.networking.k8s.io_httproutes.yaml" },
];

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Writes a schema for each version of each kind, which forbids unknown fields. */
export function writeExtensionSchemas(folder: string): void {
  for (const { module, folder: inside, file } of definitions) {
    const { spec }: Definition = parse(readFileSync(path.join(folderOf(module), inside, file), "utf8"));
    const [group] = spec.group.split(".");
    for (const { name, schema } of spec.versions)
      writeFileSync(
        path.join(folder, `${spec.names.kind.toLowerCase()}-${group}-${name}.json`),
        JSON.stringify(strict(schema.openAPIV3Schema)),
      );
  }
}

/** Returns the folder of a Go module, which is downloaded on first use. */
function folderOf(module: string): string {
  return JSON.parse(execFileSync("go", ["mod", "download", "-json", module], { encoding: "utf8" })).Dir;
}

/** Structural schemas list all fields of an object: the API server drops others. */
function strict(schema: Schema): Schema {
  const keywords = Object.entries(schema).map(([keyword, value]) => [keyword, strictKeyword(keyword, value)]);
  const result: Record<string, unknown> = Object.fromEntries(keywords);
  if (schema.properties && !schema["x-kubernetes-preserve-unknown-fields"]) result.additionalProperties ??= false;
  // These have no type of their own.
  if (schema["x-kubernetes-int-or-string"]) result.type = ["integer", "string"];
  return result;
}

function strictKeyword(keyword: string, value: unknown): unknown {
  if (keyword === "properties")
    return Object.fromEntries(
      Object.entries(value as Record<string, Schema>).map(([name, inner]) => [name, strict(inner)]),
    );
  return keyword === "items" || (keyword === "additionalProperties" && typeof value === "object")
    ? strict(value as Schema)
    : value;
}
