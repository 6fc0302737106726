// Flags that cannot be meant as they are, and what they read.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { RelationshipType, ServicePrincipal } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { EventTypeFilter } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { advisories } from "../../src/cli/resources/advisories.ts";
import { fileOrSecret } from "../../src/cli/resources/flags.ts";
import { identities } from "../../src/cli/resources/identities.ts";
import { type Caller, startCaller } from "./caller.ts";
import { environmentOf, launcher } from "./process.ts";

let caller: Caller;

const identity = ["iam", "identities", "create", "x", "--parent", "example.org"];
const provider = ["iam", "identity-providers", "create", "x", "--parent", "example.org"];
const issuer = ["--identity-issuer", "https://i.test"];

const wrong: [what: string, args: string[], said: RegExp][] = [
  [
    "keys in a file that is not there",
    [...identity, ...issuer, "--subject", "s", "--issuer-keys", "/nowhere/keys", "--expiration", "1h"],
    /--issuer-keys: \/nowhere\/keys cannot be read: ENOENT: no such file or directory\n/,
  ],
  [
    "keys in a file of this folder that is not there",
    [...identity, ...issuer, "--subject", "s", "--issuer-keys", "keys.jsn", "--expiration", "1h"],
    /--issuer-keys: keys\.jsn cannot be read: ENOENT/,
  ],
  [
    "a secret in a file that is not there",
    [...provider, "--oidc-client-secret", "/nowhere/canary"],
    /--oidc-client-secret: the file that it names cannot be read \(ENOENT\)\n.*slash/,
  ],
  ["a secret in a directory", [...provider, "--oidc-client-secret", "src"], /cannot be read \(EISDIR\)/],
  ["an invalid type", ["iam", "identities", "list", "--type", "foo"], /--type <type>.*claim_match, static/],
  ["an invalid status", ["advisories", "list", "--status", "foo"], /--status <event>.*fixed, false-positive/],
  ["an invalid service", [...identity, "--service-principal", "NOSUCH"], /--service-principal.*INGESTER/],
  [
    "an issuer and a pattern of it",
    [...identity, ...issuer, "--identity-issuer-pattern", ".*"],
    /'--identity-issuer <url>' cannot be used with option '--identity-issuer-pattern <pattern>'/,
  ],
  [
    "a pattern for static keys",
    [...identity, "--issuer-keys", "{}", "--expiration", "1h", "--subject-pattern", ".*"],
    /cannot be used with option '--subject-pattern <pattern>'/,
  ],
  [
    "nobody who may assume an identity",
    [...identity, "--description", "d"],
    /who may assume it\n.*--identity-issuer and --subject.*\n.*--service-principal/,
  ],
  [
    "a subject without an issuer",
    [...identity, "--subject", "s"],
    /a claim match also needs --identity-issuer or --identity-issuer-pattern\n$/,
  ],
  ["an issuer without a subject", [...identity, ...issuer], /needs --subject or --subject-pattern\n$/],
  [
    "a claim without issuer and subject",
    [...identity, "--claim", "a=b"],
    /needs --identity-issuer or --identity-issuer-pattern; and --subject or --subject-pattern\n$/,
  ],
  [
    "keys without whose they are",
    [...identity, "--issuer-keys", "{}"],
    /keys also needs --identity-issuer; and --subject\n$/,
  ],
  [
    "an account of AWS alone",
    [...identity, "--aws-account", "123456789012"],
    /AWS identity also needs --aws-arn or --aws-arn-pattern; and --aws-user-id or --aws-user-id-pattern\n$/,
  ],
  [
    "a token file that is not there",
    ["sts", "debug", "--identity", "x", "--token-file", "/nowhere/token"],
    /--token-file: \/nowhere\/token cannot be read: ENOENT: no such file or directory\n/,
  ],
  [
    "a token file without a token",
    ["sts", "debug", "--identity", "x", "--token-file", "package.json"],
    /--token-file: package\.json does not contain an identity token\n/,
  ],
  [
    "an identity token that is neither a token nor a file",
    ["auth", "login", "--identity-token", "/nowhere/canary"],
    /--identity-token: neither a file that can be read nor a token\n/,
  ],
  ["a file without a name", ["iam", "groups", "create", "x", "-f", ""], /^gatehouse: --file: the path is empty\n/],
  [
    "an identity token in a file without one",
    ["auth", "login", "--identity-token", "package.json"],
    /--identity-token: package\.json does not contain an identity token\n/,
  ],
];

describe("flags", () => {
  before(async () => {
    caller = await startCaller();
    writeFileSync(path.join(caller.home, "odd.yaml"), "name: odd\nclaimMatsch: {}\n");
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  for (const [what, args, said] of wrong) {
    it(`are rejected as wrong usage: ${what}`, async () => {
      const { code, stderr } = await caller.run(...args);
      assert.match(stderr, said);
      assert.doesNotMatch(stderr, /canary|decode|\n {4}at /);
      assert.equal(code, 2);
    });
  }

  it("a secret without a slash is taken as it is, one in a file without its newline", () => {
    const file = path.join(caller.home, "secret");
    writeFileSync(file, "from/file\n");
    assert.deepEqual(["s3cret", file].map(fileOrSecret("--x")), ["s3cret", "from/file"]);
  });

  it("a file with an unknown field is named", async () => {
    const file = path.join(caller.home, "odd.yaml");
    const { code, stderr } = await caller.run("iam", "identities", "create", "--parent", "example.org", "-f", file);
    assert.match(stderr, /odd\.yaml does not match the fields of the API: .*claimMatsch/);
    assert.equal(code, 2);
  });

  it("-f - reads standard input", async () => {
    const command = [launcher, "iam", "groups", "create", "--parent", "example.org", "-f", "-", "-o", "json"];
    const child = spawn(process.execPath, command, { env: environmentOf(caller.environment) });
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    child.stdin.end("name: piped\n");
    const [code] = await once(child, "close");
    assert.deepEqual([code, JSON.parse(said).name], [0, "piped"]);
  });

  const enums = [
    [identities.filters, "--type <type>", RelationshipType, { aws: "aws-identity" }],
    [identities.completing, "--service-principal <name>", ServicePrincipal, {}],
    [advisories.filters, "--status <event>", EventTypeFilter, {}],
  ] as const;
  for (const [flags, name, constants, shorter] of enums) {
    it(`${name} has all that the API has`, () => {
      const choices = flags?.find((flag) => flag.flags === name)?.choices ?? [];
      const plain = (text: string) => text.toLowerCase().replaceAll("_", "-");
      const known = Object.keys(constants)
        .filter((key) => !/^\d+$|UNSPECIFIED/.test(key))
        .map(plain);
      const said = choices.map((choice) => plain((shorter as Record<string, string>)[choice] ?? choice));
      assert.deepEqual(said.sort(), known.sort());
    });
  }
});
