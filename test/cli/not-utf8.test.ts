// Text that is not UTF-8 is rejected wherever a command reads it: stored with U+FFFD it would be another text.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeUtf8 } from "../../src/base/text-file.ts";
import { type Caller, cachePath, startCaller } from "./caller.ts";
import { run, start } from "./process.ts";

/** `café` in Latin-1. */
const latin1 = Buffer.from("# caf\xe9\nkind: Group\nname: research\n", "latin1");
const complaint = /the byte 0xe9 at offset 5 is not UTF-8/;

describe("decoding UTF-8", () => {
  const cases: readonly (readonly [rule: string, bytes: readonly number[], expected: string | RegExp])[] = [
    ["an empty text", [], ""],
    ["characters of one to four bytes", [...Buffer.from("aé日👍")], "aé日👍"],
    ["U+FFFD itself", [...Buffer.from("a\uFFFDb")], "a\uFFFDb"],
    ["a byte order mark is left out", [0xef, 0xbb, 0xbf, 0x61], "a"],
    ["a byte of Latin-1", [0x61, 0xe9, 0x62], /the byte 0xe9 at offset 1 /],
    ["a byte after U+FFFD itself", [0xef, 0xbf, 0xbd, 0x61, 0xff], /the byte 0xff at offset 4 /],
    ["a character that is cut off", [0x61, 0xe6, 0x97], /the byte 0xe6 at offset 1 /],
    ["a surrogate (RFC 3629 §3)", [0x61, 0x62, 0xed, 0xa0, 0x80], /the byte 0xed at offset 2 /],
    ["an overlong form (RFC 3629 §3)", [0xc0, 0xaf], /the byte 0xc0 at offset 0 /],
    ["UTF-16, which PowerShell writes", [0xff, 0xfe, 0x61, 0], /offset 0 is not UTF-8, but looks like UTF-16/],
  ];
  for (const [rule, bytes, expected] of cases)
    it(`${expected instanceof RegExp ? "rejects" : "decodes"} ${rule}`, () => {
      const decode = () => decodeUtf8(Buffer.from(bytes));
      if (expected instanceof RegExp) assert.throws(decode, { message: expected });
      else assert.equal(decode(), expected);
    });

  it("counts from the beginning of the file", () => {
    assert.throws(() => decodeUtf8(Buffer.from([0x61, 0xe9]), 1000), { message: /at offset 1001 / });
  });
});

describe("a file that is not UTF-8", () => {
  let caller: Caller;
  let file: string;
  before(async () => {
    caller = await startCaller();
    file = path.join(caller.home, "latin1.yaml");
    writeFileSync(file, latin1);
    await caller.run("iam", "organizations", "create", "acme");
  });
  after(() => caller[Symbol.asyncDispose]());

  const commands: readonly (readonly string[])[] = [
    ["apply", "--group", "acme", "--yes", "-f"],
    ["diff", "--group", "acme", "-f"],
    ["iam", "groups", "create", "--parent", "acme", "-f"],
    ["iam", "groups", "update", "acme", "-f"],
    ["iam", "identities", "create", "ci", "--parent", "acme", "--issuer-keys"],
    ["iam", "identity-providers", "create", "sso", "--parent", "acme", "--oidc-client-secret"],
    ["api", "POST", "/iam/v2beta1/groups", "--data"],
    ["auth", "login", "--identity-token"],
    ["sts", "debug", "--identity", "ci", "--token-file"],
    ["iam", "organizations", "export", "acme", "-", "--recipient"],
  ];
  for (const words of commands)
    it(`is named with the byte by \`${words.join(" ")}\`, exit code 2`, async () => {
      const { code, stderr } = await caller.run(...words, words.at(-1) === "--data" ? `@${file}` : file);
      assert.equal(code, 2, stderr);
      assert.match(stderr, complaint);
      // The value of a secret's flag may be the secret.
      assert.equal(stderr.includes(file), !words.includes("--oidc-client-secret"));
    });

  it("is left out of an import of advisories, and of an organization's import with its line", async () => {
    const advisories = path.join(caller.home, "advisories.json");
    writeFileSync(advisories, latin1);
    const imported = await caller.run("advisories", "import", advisories, "--group", "acme");
    assert.equal(imported.code, 1);
    assert.match(imported.stdout + imported.stderr, complaint);
    const lines = path.join(caller.home, "acme.jsonl");
    writeFileSync(lines, latin1);
    const organization = await caller.run("iam", "organizations", "import", lines);
    assert.equal(organization.code, 1);
    assert.match(organization.stderr, /acme\.jsonl: line 1: the byte 0xe9 at offset 5 is not UTF-8/);
  });

  it("is named if it is that of the settings or of a cached token", async () => {
    const config = path.join(caller.home, "config", "gatehouse", "config.yaml");
    const cached = cachePath(caller.home, caller.server.url);
    for (const [place, expected] of [
      [config, 2],
      [cached, 1],
    ] as const) {
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, latin1);
      const { code, stderr } = await caller.runWith({ GATEHOUSE_TOKEN: "" }, "iam", "groups", "list");
      assert.equal(code, expected, stderr);
      assert.match(stderr, complaint);
      assert.ok(stderr.includes(place), stderr);
      writeFileSync(place, "");
    }
  });

  it("is named if it comes from standard input", async () => {
    for (const command of [
      ["apply", "--group", "acme", "--yes", "-f", "-"],
      ["iam", "groups", "create", "--parent", "acme", "-f", "-"],
      ["api", "POST", "/iam/v2beta1/groups", "--data", "-"],
    ]) {
      const running = start(command, { ...caller.environment });
      running.child.stdin!.end(latin1);
      const { code, stderr } = await running.finished;
      assert.equal(code, 2, stderr);
      assert.match(stderr, /standard input cannot be read: the byte 0xe9 at offset 5 is not UTF-8/);
    }
  });

  it("is named if it is a file of settings of a server, or its certificate", async () => {
    const data = path.join(caller.home, "server");
    for (const flags of [
      ["--config", file],
      ["--tls-cert", file, "--tls-key", file],
    ]) {
      const { code, stderr } = await run(["serve", "--data-dir", data, "--base-url", "https://127.0.0.1", ...flags]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, complaint);
    }
  });
});
