#!/usr/bin/env -S node --max-semi-space-size=8
// The program's door: plain JavaScript, so that any Node can read it. The rest is TypeScript and native code for the Node
// that the packages bring along; an older one hands over to that.
import * as module from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { compiledCode, currentBundle, flags, heapFlag } from "./bundle/place.js";

const oldestNode = 26;
const nodeOfPackages = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));

// SIGHUP asks a server to read its settings again. Before it has read them there is nothing to do, but without a listener it would end.
const isServer = process.argv[2] === "serve";
if (isServer) process.on("SIGHUP", () => {});

if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  const bundle = isServer ? currentBundle() : undefined;
  if (bundle?.snapshot) beginWith(bundle.snapshot);
  setFlagsFromString(heapFlag);
  // Types are stripped and code is compiled once, not at every start.
  module.enableCompileCache(compiledCode);
  const { main } = bundle ? module.createRequire(import.meta.url)(bundle.main) : await import("./main.ts");
  await main(process.argv.slice(2));
} else {
  const { spawn } = await import("node:child_process");
  const child = spawn(nodeOfPackages, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    // A launcher that is killed passes nothing on: the program ends itself once it has lost it.
    env: { ...process.env, GATEHOUSE_LAUNCHER_PID: String(process.pid) },
  });
  const passedOn = ["SIGINT", "SIGTERM", "SIGHUP"];
  // A server that has not run its first line would end by SIGHUP. It says by SIGUSR2 that it has (cli/launcher.ts).
  const ready = new Promise((resolve) => process.on("SIGUSR2", resolve));
  const passOn = async (signal) => {
    if (isServer && signal === "SIGHUP") await ready;
    child.kill(signal);
  };
  for (const signal of passedOn) process.on(signal, passOn);
  child.on("error", () => {
    console.error(
      `Gatehouse needs Node ${oldestNode} or later, and ${nodeOfPackages} is not there: run npm ci without --omit=optional.`,
    );
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 1;
    if (!signal) return;
    // Ends as the program did: a shell leaves its loop after Ctrl-C only when what it waited for was ended by that.
    for (const own of passedOn) process.removeAllListeners(own);
    process.kill(process.pid, signal);
  });
}

function startOptions() {
  return [...process.execArgv, process.env.NODE_OPTIONS].join(" ");
}

/** Has this process begin anew with a startup snapshot, and returns only where that cannot be. */
function beginWith(snapshot) {
  // A channel to the parent would be lost, and Node imports nothing ahead of a snapshot.
  if (process.channel || /--(import|loader|experimental-loader)\b/.test(startOptions())) return;
  const args = [process.execPath, ...process.execArgv, "--snapshot-blob", snapshot, ...process.argv.slice(1)];
  try {
    process.execve(process.execPath, args, process.env);
  } catch {
    // Not on this system, or not permitted.
  }
}
