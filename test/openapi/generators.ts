// Generators of clients in other languages take every OpenAPI document, and what they make of it compiles.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { documents } from "./documents.ts";
import { hasPrograms } from "./programs.ts";
import { openVenv } from "./venv.ts";

const root = path.resolve(import.meta.dirname, "../..");
const sources = path.join(import.meta.dirname, "generators");
const typescript = path.join(import.meta.dirname, "generator/node_modules/.bin");
/** The folder of generated clients and Python packages, kept for the next run. */
const place = path.join(root, ".cache/generators");
/** v2 is v2beta1 under other paths, and no other for a generator. */
const names = [...documents.keys()].map((each) => path.basename(each, ".json")).filter((name) => name !== "v2");
const documentOf = (name: string) => path.join(place, `${name}.json`);

const runFile = promisify(execFile);

/** Runs a program; what it prints is in the error when it fails. */
async function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  await runFile(program, args, options).catch((error: { stdout?: string; stderr?: string }) => {
    const printed = `${error.stdout ?? ""}${error.stderr ?? ""}`.slice(-4000);
    throw new Error(`${path.basename(program)} ${args.join(" ")}: ${printed}`, { cause: error });
  });
}

function emptyDirectory(name: string): string {
  const directory = path.join(place, name);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  return directory;
}

describe("generated clients", () => {
  before(() => {
    mkdirSync(place, { recursive: true });
    for (const [name, document] of documents)
      writeFileSync(path.join(place, path.basename(name)), JSON.stringify(document));
  });

  it("openapi-typescript generates a TypeScript client that compiles", async (t) => {
    if (!existsSync(typescript)) return t.skip("the workspace test/openapi/generator is not installed");
    const directory = emptyDirectory("typescript");
    for (const name of names)
      await run(
        process.execPath,
        [path.join(typescript, "openapi-typescript"), documentOf(name), "-o", `${name}.ts`],
        directory,
      );
    await run(
      path.join(root, "node_modules/.bin/tsc"),
      ["--noEmit", "--strict", "--ignoreConfig", ...names.map((name) => `${name}.ts`)],
      directory,
    );
  });

  it("oapi-codegen and ogen generate Go clients that compile", async (t) => {
    if (!hasPrograms("go")) return t.skip("there is no Go");
    const directory = emptyDirectory("go");
    cpSync(path.join(sources, "go"), directory, { recursive: true });
    for (const name of names) {
      mkdirSync(path.join(directory, `oapi${name}`));
      const options = ["-package", "api", "-generate", "types,client", "-o", `oapi${name}/api.go`];
      await run("go", ["tool", "oapi-codegen", ...options, documentOf(name)], directory);
      await run("go", ["tool", "ogen", "--target", `ogen${name}`, "--package", "api", documentOf(name)], directory);
    }
    await run("go", ["build", "./..."], directory);
  });

  it("openapi-python-client generates a Python client that works", async (t) => {
    const bin = await openVenv(path.join(sources, "python/requirements.txt"));
    if (bin === undefined) return t.skip("there is no Python with venv");
    const directory = emptyDirectory("python");
    const env = { PATH: `${bin}:${process.env.PATH}` };
    for (const name of names) {
      const output = `client_${name}`;
      const options = ["--path", documentOf(name), "--output-path", output, "--meta", "none", "--fail-on-warning"];
      await run(path.join(bin, "openapi-python-client"), ["generate", ...options], directory, env);
    }
    writeFileSync(path.join(directory, "load.py"), readFileSync(path.join(sources, "python/load.py")));
    await run(path.join(bin, "python"), ["load.py", ...names.map((name) => `client_${name}`)], directory);
  });

  it("openapi-generator generates a Java client that compiles", async (t) => {
    if (!hasPrograms("mvn", "javac")) return t.skip("there is no Maven with a compiler of Java");
    const directory = emptyDirectory("java");
    for (const name of names) {
      const output = path.join(directory, name);
      const options = [`-Ddocument=${documentOf(name)}`, `-Doutput=${output}`];
      await run("mvn", ["-q", "-B", "-f", path.join(sources, "java/pom.xml"), "compile", ...options], directory);
    }
  });
});
