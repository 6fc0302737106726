// A process learns that the program which started it has ended, also with a shell in between.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";

const watching = `import { watchAncestors } from ${JSON.stringify(pathToFileURL(path.resolve("src/cli/ancestors.ts")).href)};
watchAncestors(process.ppid, false, () => { console.log("gone"); process.exit(); });
setTimeout(() => process.exit(1), 10_000);
console.log("watches");`;
const watcher = [process.execPath, "--input-type=module", "-e", watching];

/** Starts its arguments and stays. */
const keeper = 'require("node:child_process").spawn(process.argv[1], process.argv.slice(2), { stdio: "inherit" })';

describe("the watch of what started a process", { skip: process.platform === "win32" }, () => {
  for (const [title, command] of [
    ["a program", watcher],
    ["a program that uses a shell", ["sh", "-c", '"$@"; exit 0', "sh", ...watcher]],
  ] as const)
    it(`the watch notices the end of ${title}`, async () => {
      const program = spawn(process.execPath, ["-e", keeper, ...command], { stdio: ["ignore", "pipe", "inherit"] });
      let printed = "";
      program.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        if (text.includes("watches")) program.kill("SIGKILL");
      });
      // The watcher holds the pipe until it ends.
      await once(program, "close");
      assert.equal(printed, "watches\ngone\n");
    });
});
