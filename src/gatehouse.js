#!/usr/bin/env -S node --max-semi-space-size=8
// The program's door: plain JavaScript, so that any Node can read it. The rest is TypeScript and native code for the Node
// that the packages bring along; an older one hands over to that.
import * as module from "node:module";
import { fileURLToPath } from "node:url";
import { currentBundle } from "./bundle/place.js";

const oldestNode = 26;
// MiB. New objects in more memory than this cost memory and save no time. It is set at the start of a process or not at
// all: here, in the first line, and in the scripts of package.json.
const flags = ["--max-semi-space-size=8"];
const nodeOfPackages = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  // Types are stripped and code is compiled once, not at every start. What is compiled lies with the code: whoever may write
  // there may change the program anyway, which does not hold of a directory for temporary files. Where nobody may write,
  // nothing is kept, unless NODE_COMPILE_CACHE names another place.
  module.enableCompileCache?.(fileURLToPath(new URL("../node_modules/.cache/gatehouse", import.meta.url)));
  const bundle = process.argv[2] === "serve" ? currentBundle() : undefined;
  const { main } = bundle ? module.createRequire(import.meta.url)(bundle) : await import("./main.ts");
  await main(process.argv.slice(2));
} else {
  const { spawn } = await import("node:child_process");
  const child = spawn(nodeOfPackages, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", () => {
    console.error(
      `Gatehouse needs Node ${oldestNode} or later, and ${nodeOfPackages} is not there: run npm ci without --omit=optional.`,
    );
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
}
