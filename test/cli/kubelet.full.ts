// The credential provider of the kubelet as a script, fed hostile requests: its responses are those of the command, or none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";

const registry = "registry.example.com:5000";
const user = `${"a".repeat(40)}/0123456789abcdef`;
const other = `${"b".repeat(40)}`;
const apiVersion = "credentialprovider.kubelet.k8s.io/v1";
const program = path.resolve("src/gatehouse.js");

/** Texts that look like members, escapes and ends of objects. */
const hostile = [
  '","serviceAccountToken":"evil',
  '"},"serviceAccountToken":"evil"}',
  "\\",
  '\\"',
  ":{}",
  '{"a":"b"}',
  "}",
  "\u0000",
  "\n",
  "é",
  "$(touch x)",
  "`id`",
  "%s%n",
  "'",
  other,
];
const anyText = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "grapheme", maxLength: 12 }));
const token = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("eyJhbGciOi.eyJpc3Mi.c2ln-_", "x") },
  { weight: 1, arbitrary: anyText },
);
const image = fc.oneof(
  { weight: 4, arbitrary: fc.constant(`${registry}/org/app:1`) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(`${registry}/`, registry, ""), anyText).map((parts) => parts.join("")),
  },
);
const annotations = fc.dictionary(
  fc.oneof(fc.constantFrom("gatehouse.dev/identity", "serviceAccountToken", "image"), anyText),
  fc.oneof(fc.constantFrom(user, other), anyText),
  { maxKeys: 4 },
);
const request = fc.record(
  {
    kind: fc.constant("CredentialProviderRequest"),
    apiVersion: fc.oneof({ weight: 9, arbitrary: fc.constant(apiVersion) }, { weight: 1, arbitrary: anyText }),
    image,
    serviceAccountToken: token,
    serviceAccountAnnotations: annotations,
  },
  { requiredKeys: ["kind", "apiVersion"] },
);

type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never;

describe("the credential provider of the kubelet", () => {
  let folder: string;
  let script: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-kubelet-"));
    script = path.join(folder, "gatehouse-credential-provider");
    const written = spawnSync(process.execPath, [
      program,
      "auth",
      "kubelet-credential-provider",
      "--write-script",
      script,
    ]);
    assert.equal(written.status, 0, String(written.stderr));
    assert.equal(statSync(script).mode & 0o777, 0o755);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (input: string, ...args: readonly string[]) =>
    spawnSync("sh", [script, ...args], { input, encoding: "utf8", cwd: folder });
  const ask = (input: string) => run(`${input}\n`, "--registry", registry, "--user", user);
  const good = {
    kind: "CredentialProviderRequest",
    apiVersion,
    image: `${registry}/org/app:1`,
    serviceAccountToken: "eyJ.a.b",
    serviceAccountAnnotations: {},
  };
  const responseTo = (changes: object) => {
    const { status, stdout } = ask(JSON.stringify({ ...good, ...changes }));
    return status === 0 ? JSON.parse(stdout).auth : status;
  };

  it("hands on the token of the service account, for the identity of the argument or the annotation", () => {
    const credentials = (username: string) => ({ [registry]: { username, password: "eyJ.a.b" } });
    assert.deepEqual(responseTo({}), credentials(user));
    assert.deepEqual(responseTo({ serviceAccountAnnotations: undefined }), credentials(user));
    assert.deepEqual(
      responseTo({ serviceAccountAnnotations: { a: "b", "gatehouse.dev/identity": other } }),
      credentials(other),
    );
    assert.deepEqual(responseTo({ serviceAccountToken: undefined }), {});
  });

  it("rejects requests of another version, for another registry, and with a malformed identity or token", () => {
    for (const changes of [
      { apiVersion: "credentialprovider.kubelet.k8s.io/v2" },
      { image: "docker.io/library/alpine" },
      { image: `evil-${registry}/org/app` },
      { image: registry },
      { serviceAccountAnnotations: { "gatehouse.dev/identity": "" } },
      { serviceAccountAnnotations: { "gatehouse.dev/identity": "x" } },
      { serviceAccountToken: "a b" },
    ])
      assert.equal(responseTo(changes), 1, JSON.stringify(changes));
    for (const input of ["", "{}", "[]", "null", "{", `${JSON.stringify(good)}x`, JSON.stringify(good, null, 1)])
      assert.equal(ask(input).status, 1, input);
    const twice = JSON.stringify(good).replace('"kind"', '"serviceAccountToken":"evil","kind"');
    assert.equal(ask(twice).status, 1);
    assert.equal(run("{}", "--user", user).status, 1, "without a registry");
    assert.equal(run("{}", "--registry").status, 1, "without a value");
  });

  it("1,000 hostile requests get a response with the value of serviceAccountToken, or none, and no message has the token", () => {
    const requests = fc.sample(request, 1_000);
    const requestFolder = mkdtempSync(path.join(folder, "requests-"));
    for (const [i, asked] of requests.entries())
      writeFileSync(path.join(requestFolder, `${i}`), `${JSON.stringify(asked)}\n`);
    // One shell starts all of them: a process of Node takes longer to start another one than the script takes.
    const loop = `for i in $(seq 0 ${requests.length - 1}); do
      sh "$1" --registry "$2" --user "$3" < "$i" > "$i.out" 2> "$i.err"; echo $? > "$i.status"; done`;
    const all = spawnSync("sh", ["-c", loop, "sh", script, registry, user], { cwd: requestFolder, encoding: "utf8" });
    assert.equal(all.status, 0, all.stderr);
    const answered = requests.filter((asked, i) => {
      const [status, stdout, stderr] = ["status", "out", "err"].map((end) =>
        readFileSync(path.join(requestFolder, `${i}.${end}`), "utf8"),
      );
      checkResponse(asked, Number(status), stdout!, stderr!);
      return Number(status) === 0;
    });
    assert.ok(answered.length > 100, `${answered.length} requests were answered`);
  });

  function checkResponse(asked: Asked, status: number, stdout: string, stderr: string): void {
    const shown = JSON.stringify(asked);
    if (status !== 0) {
      assert.deepEqual([status, stdout], [1, ""], shown);
      return;
    }
    assert.equal(stderr, "", shown);
    assert.ok(asked.image?.startsWith(`${registry}/`), shown);
    const username = asked.serviceAccountAnnotations?.["gatehouse.dev/identity"] ?? user;
    const auth = asked.serviceAccountToken ? { [registry]: { username, password: asked.serviceAccountToken } } : {};
    assert.deepEqual(JSON.parse(stdout).auth, auth, shown);
  }

  it("the command is a provider itself, with the same responses", () => {
    const args = [program, "auth", "kubelet-credential-provider", "--registry", registry, "--user", user];
    const command = (input: string) => spawnSync(process.execPath, args, { input, encoding: "utf8" });
    for (const changes of [
      {},
      { serviceAccountToken: undefined },
      { image: "docker.io/a" },
      { serviceAccountToken: "a b" },
    ]) {
      const input = JSON.stringify({ ...good, ...changes });
      const [ours, theirs] = [command(input), ask(input)];
      assert.deepEqual([ours.status, ours.stdout], [theirs.status, theirs.stdout], input);
    }
  });
});
