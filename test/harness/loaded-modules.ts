// The modules that a process of the program loads.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { environmentOf } from "../cli/process.ts";

/** Prints the addresses of all files, and the modules of Node, on standard error at the end. */
const witness = `import { registerHooks } from "node:module";
const files = new Set();
registerHooks({ load(url, context, next) { files.add(url); return next(url, context); } });
process.on("exit", () => console.error(JSON.stringify({ files: [...files], builtins: process.moduleLoadList })));`;

/** The modules of Node that each cost a fifth of the start of Node or more. */
const slow = ["crypto", "tls", "http", "https", "http2", "sqlite", "dns"];

/** Returns the flags of Node that run this module before the program. */
export function importing(text: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(text)}`];
}

/** Runs a program to its end, and returns the URLs of the files that it loaded, and which slow modules of Node. */
export function loadedBy(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const command = [...importing(witness), program, ...args];
  const { status, stderr } = spawnSync(process.execPath, command, {
    env: environmentOf(environment),
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const { files, builtins }: { files: string[]; builtins: string[] } = JSON.parse(stderr);
  return {
    files: files.filter((url) => url.startsWith("file:")),
    slowBuiltins: slow.filter((name) => builtins.includes(`NativeModule ${name}`)),
  };
}
