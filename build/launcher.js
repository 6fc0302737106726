#!/usr/bin/env -S node --max-semi-space-size=8
// The launcher of the bundle (docs/decisions/0083). Unlike src/gatehouse.js it runs the program on the Node that started it.
import "./disposable-stack.js";
import * as module from "node:module";
import path from "node:path";
import { version } from "../src/base/version.ts";
import { setEngineFlags } from "../src/engine-flags.js";
import { asksForVersion, printVersion } from "../src/print-version.js";

setEngineFlags();
const isServer = process.argv[2] === "serve";
if (isServer) process.on("SIGHUP", () => {});
if (isServer && !process.env.GATEHOUSE_WORKER_NUMBER && !/^(?:-h|--help)$/.test(process.argv[3] ?? ""))
  process.stdout.write("Starting Gatehouse…\n");

const args = process.argv.slice(2);
if (asksForVersion(args)) printVersion(version);
else {
  const folder = compileCacheFolder();
  // NODE_COMPILE_CACHE, if set, names another directory.
  if (folder || process.env.NODE_COMPILE_CACHE) module.enableCompileCache(folder);
  // The bundle is CommonJS, which has no await here.
  import("../src/main.ts").then(({ main }) => main(args));
}

/** Returns a folder in the user's own cache: an installed package may be read-only, and other users can write to `/tmp`. */
function compileCacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
  const isMac = process.platform === "darwin";
  const own =
    process.platform === "win32"
      ? LOCALAPPDATA
      : XDG_CACHE_HOME || (HOME && `${HOME}/${isMac ? "Library/Caches" : ".cache"}`);
  return own && path.isAbsolute(own) ? path.join(own, "gatehouse", "compiled") : undefined;
}
