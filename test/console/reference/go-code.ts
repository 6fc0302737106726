// The code in Go that the API reference shows is built with what docs/clients.md generates, and prints the response that *Send call* gets.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { languages } from "../../../console/src/reference/code/languages.ts";
import { hasPrograms } from "../../openapi/programs.ts";
import { comparable, responseOf, startTypedCalls, type TypedCalls } from "./calls.ts";

const root = path.resolve(import.meta.dirname, "../../..");
/** The folder of the program, whose generators are kept for the next run. */
const program = path.join(root, ".cache/reference-go");
const tools = path.join(program, "tools");
const generators = [
  "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11",
  "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
];
/** The template of docs/clients.md. */
const template = `version: v2
managed:
  enabled: true
  override: [{ file_option: go_package_prefix, value: example.com/program/gatehouse }]
  disable: [{ file_option: go_package_prefix, path: google }]
plugins:
  - { local: protoc-gen-go, out: gatehouse, opt: paths=source_relative }
  - { local: protoc-gen-go-grpc, out: gatehouse, opt: paths=source_relative }
`;

const runFile = promisify(execFile);

/** Runs a program; what it prints is in the error when it fails. */
async function run(name: string, args: readonly string[], cwd = program, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const search = [tools, path.join(root, "node_modules/.bin"), process.env.PATH].join(path.delimiter);
  const options = { cwd, env: { ...process.env, PATH: search, ...env }, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await runFile(name, args, options).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`${name} ${args.join(" ")}: ${error.stdout}${error.stderr}`.slice(0, 8000), { cause: error });
  });
  return stdout;
}

describe("the code in Go in the API reference", { skip: !hasPrograms("go") && "there is no Go" }, () => {
  let typed: TypedCalls;

  before(async () => {
    typed = await startTypedCalls();
    for (const folder of ["cmd", "gatehouse", "bin"])
      rmSync(path.join(program, folder), { recursive: true, force: true });
    mkdirSync(tools, { recursive: true });
    for (const generator of generators) await run("go", ["install", generator], program, { GOBIN: tools });
    writeFileSync(path.join(program, "go.gen.yaml"), template);
    await run("buf", ["generate", "proto", "--template", path.join(program, "go.gen.yaml"), "-o", program], root);
    for (const [index, call] of typed.calls.entries()) {
      const folder = path.join(program, `cmd/call${index}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, "main.go"), languages.go.code(call));
    }
    writeFileSync(path.join(program, "go.mod"), "module example.com/program\n");
    await run("go", ["mod", "tidy"]);
    await run("go", ["build", "-o", "bin/", "./cmd/..."]);
  });

  after(() => typed?.[Symbol.asyncDispose]());

  it("programs in Go compile, and print the response of each call", async () => {
    for (const [index, call] of typed.calls.entries()) {
      const expected = comparable(await responseOf(call, typed.token));
      const printed = await run(path.join(program, `bin/call${index}`), [], program, { TOKEN: typed.token });
      assert.deepEqual(comparable(printed), expected, `${call.service}/${call.method.name}`);
    }
  });

  it("programs in Go have the layout of gofmt", async () => {
    assert.equal(await run("gofmt", ["-l", "cmd"]), "");
  });
});
