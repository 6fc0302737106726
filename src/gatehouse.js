#!/usr/bin/env -S node --max-semi-space-size=8
// The launcher: plain JavaScript, because any Node must be able to run it. The program is TypeScript and native code for the Node of the
// optional packages. An older Node starts that one instead (docs/decisions/0008).
import { readFileSync } from "node:fs";
import * as module from "node:module";
import { fileURLToPath } from "node:url";
import { setEngineFlags } from "./engine-flags.js";
import { asksForVersion, printVersion } from "./print-version.js";

const oldestNode = 26;
const nodeOfPackages = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));
// Next to the code: other users of the machine could replace files in the directory for temporary files, which is Node's default.
const compileCache = fileURLToPath(new URL("../node_modules/.cache/gatehouse", import.meta.url));
// Also in the first line above and in package.json. MiB: a larger young generation costs memory and saves no time.
const flags = ["--max-semi-space-size=8"];

// SIGHUP makes a server reload its settings. Until it has loaded them, ignore the signal, which would end the process.
const isServer = process.argv[2] === "serve";
if (isServer) process.on("SIGHUP", () => {});
// A first start compiles the program, which takes seconds. Workers and the child of a launcher do not say it again.
const isFirst = !process.env.GATEHOUSE_LAUNCHER_PID && !process.env.GATEHOUSE_WORKER_NUMBER;
if (isServer && isFirst && !/^(?:-h|--help)$/.test(process.argv[3] ?? ""))
  process.stdout.write("Starting Gatehouse…\n");

if (asksForVersion(process.argv.slice(2))) {
  printVersion(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  setEngineFlags();
  // NODE_COMPILE_CACHE, if set, names another directory.
  module.enableCompileCache(compileCache);
  const { main } = await import("./main.ts");
  await main(process.argv.slice(2));
} else {
  const { spawn } = await import("node:child_process");
  const child = spawn(nodeOfPackages, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    // SIGKILL cannot be forwarded: the program ends itself when this process is gone (cli/launcher.ts).
    env: { ...process.env, GATEHOUSE_LAUNCHER_PID: String(process.pid) },
  });
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];
  // SIGHUP would end a Node that has not run its first line yet. The program sends SIGUSR2 when it is ready (cli/launcher.ts).
  const ready = new Promise((resolve) => process.on("SIGUSR2", resolve));
  const forward = async (signal) => {
    if (isServer && signal === "SIGHUP") await ready;
    child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, forward);
  child.on("error", () => {
    console.error(
      `Gatehouse needs Node ${oldestNode} or later, and ${nodeOfPackages} is not there: run npm ci without --omit=optional.`,
    );
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 1;
    if (!signal) return;
    // End by the same signal: after Ctrl-C, a shell leaves its loop only if the signal ended the command.
    for (const own of forwarded) process.removeAllListeners(own);
    process.kill(process.pid, signal);
  });
}
