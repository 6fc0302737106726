// The code that the API reference shows for a call is run, and prints the response that *Send call* gets.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { type Language, languages } from "../../../console/src/reference/code/languages.ts";
import { missingPrograms } from "../../documentation/missing-programs.ts";
import { comparable, responseOf, startTypedCalls, type TypedCalls } from "./calls.ts";
import { newProgramFolder, type ProgramFolder } from "./programs.ts";

const run = promisify(execFile);
const lacksPython = missingPrograms(["python3"]).length > 0 && "python3 not installed";
const lacksRequests =
  spawnSync("python3", ["-c", "import requests"], { stdio: "ignore" }).status !== 0 &&
  "Python's requests not installed";

describe("the code in the API reference", { timeout: 300_000 }, () => {
  let typed: TypedCalls;
  let folder: ProgramFolder;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    typed = await startTypedCalls();
    folder = newProgramFolder();
    env = { ...process.env, TOKEN: typed.token, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };
  });

  after(async () => {
    folder?.[Symbol.dispose]();
    await typed?.[Symbol.asyncDispose]();
  });

  /** Writes the code of each call. Returns the files. */
  function write(language: Language, suffix: string): readonly string[] {
    return typed.calls.map((call, index) => folder.write(`call${index}.${suffix}`, languages[language].code(call)));
  }

  /** Runs the files one after another, and compares what they print. */
  async function compare(program: string, options: readonly string[], files: readonly string[]): Promise<void> {
    for (const [index, file] of files.entries()) {
      const call = typed.calls[index]!;
      const expected = comparable(await responseOf(call, typed.token));
      const { stdout } = await run(program, [...options, file], { env, cwd: folder.path });
      assert.deepEqual(comparable(stdout), expected, `${call.service}/${call.method.name}`);
    }
  }

  it("the code of the API reference is tested with at least 20 methods", () => {
    assert.ok(new Set(typed.calls.map(({ service, method }) => `${service}/${method.name}`)).size >= 20);
  });

  it("curl prints the response of each call", async () => {
    await compare("bash", ["-e"], write("curl", "sh"));
  });

  it("curl prints the response of each call by Connect", async () => {
    const files = write("connect", "sh");
    await compare("bash", ["-e"], files);
  });

  it("programs in TypeScript have no error of types, and print the response of each call", async () => {
    const files = write("typescript", "ts");
    const checked = spawnSync("node_modules/.bin/tsc", ["--project", folder.path], { encoding: "utf8" });
    assert.equal(checked.stdout, "");
    await compare(process.execPath, folder.nodeOptions, files);
  });

  it("programs in Python compile", { skip: lacksPython }, async () => {
    await run("python3", ["-m", "py_compile", ...write("python", "py")]);
  });

  it("programs in Python print the response of each call", { skip: lacksRequests }, async () => {
    await compare("python3", [], write("python", "py"));
  });
});
