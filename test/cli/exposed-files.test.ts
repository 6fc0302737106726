// Files of the operator that every user of the machine can read or change.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { exposedFiles } from "../../src/cli/exposed-files.ts";
import { readSettings, readSettingsFile } from "../../src/config/read-settings.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { run } from "./process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-exposed-"));
after(() => rmSync(folder, { recursive: true }));

function file(mode: number, content = ""): string {
  const name = path.join(folder, `${Math.random()}`);
  writeFileSync(name, content);
  chmodSync(name, mode);
  return name;
}

function directory(mode: number): string {
  const name = path.join(folder, `${Math.random()}`);
  mkdirSync(name);
  chmodSync(name, mode);
  return name;
}

function link(target: string): string {
  const name = path.join(folder, `${Math.random()}`);
  symlinkSync(target, name);
  return name;
}

function found(flags: Record<string, string>, environment: NodeJS.ProcessEnv = {}): string[] {
  return exposedFiles(readSettings(flags, environment), readSettingsFile(flags, environment)).map((sentence) => {
    const [, name, what] = /^warning: ([\w-]+): \S+ can be (\w+) by every user of this machine; set its mode to /.exec(
      sentence,
    ) ?? [undefined, sentence, ""];
    return `${name} ${what}`;
  });
}

const secret = '{"login-client-secret": "canary"}';

describe("files with secrets", () => {
  const cases: readonly [what: string, flags: () => Record<string, string>, expected: string[]][] = [
    ["a TLS key of everybody", () => ({ tlsKey: file(0o644) }), ["tls-key read"]],
    ["a TLS key behind a link", () => ({ tlsKey: link(file(0o604)) }), ["tls-key read"]],
    ["a TLS key that everybody can change", () => ({ tlsKey: file(0o622) }), ["tls-key changed"]],
    ["a TLS key of the owner", () => ({ tlsKey: file(0o600) }), []],
    ["a TLS key of a group", () => ({ tlsKey: file(0o640) }), []],
    ["a TLS key that is not there", () => ({ tlsKey: "/nowhere/key.pem" }), []],
    ["a certificate of everybody", () => ({ tlsCert: file(0o644) }), []],
    ["settings of everybody with a secret", () => ({ config: file(0o644, secret) }), ["config read"]],
    [
      "settings of everybody with the address of a database",
      () => ({ config: file(0o644, '{"database-url": "postgres://u:canary@h/x"}') }),
      ["config read"],
    ],
    ["settings of the owner with a secret", () => ({ config: file(0o600, secret) }), []],
    ["settings of everybody without a secret", () => ({ config: file(0o644, '{"listen": "127.0.0.1:1"}') }), []],
    ["settings that everybody can change", () => ({ config: file(0o666, "{}") }), ["config changed"]],
    ["a data directory that everybody can change", () => ({ dataDir: directory(0o777) }), ["data-dir changed"]],
    ["a data directory that everybody can read", () => ({ dataDir: directory(0o755) }), []],
    ["a data directory that is not there yet", () => ({ dataDir: path.join(folder, "new") }), []],
  ];
  for (const [what, flags, expected] of cases) it(what, () => assert.deepEqual(found(flags()), expected));

  it("a settings file that others can read is reported", () => {
    assert.deepEqual(found({}, { GATEHOUSE_CONFIG: file(0o644, secret) }), ["config read"]);
  });

  it("files that others can read are reported at the start, by name alone", async () => {
    const [tlsCert, tlsKey] = [file(0o644, certificate), file(0o644, certificateKey)];
    const config = file(0o644, secret);
    const { code, stderr } = await run(["serve", "--tls-cert", tlsCert, "--tls-key", tlsKey, "--config", config]);
    // It misses a base URL.
    assert.equal(code, 2);
    assert.match(stderr, /^gatehouse: warning: tls-key: .*\ngatehouse: warning: config: .*\ngatehouse: base-url: /);
    assert.doesNotMatch(stderr, /canary/);
  });
});
