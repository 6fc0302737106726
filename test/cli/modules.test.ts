// The modules that a command loads: they decide how long a person waits at the keyboard.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { clientCommands, serverCommands } from "../../src/cli/command-names.ts";
import { newProgram } from "../../src/cli/program.ts";
import { processShell } from "../../src/cli/shell.ts";
import { importing, loadedBy } from "../harness/loaded-modules.ts";
import { launcher } from "./process.ts";

/** This Node, which says that it is an older one, and starts no process. */
const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } });
import * as children from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
children.default.spawn = () => { throw new Error("a second process"); };
syncBuiltinESMExports();`;

/** Returns the modules that a command loads: paths of ours, names of packages, and modules of Node that take long. */
function modulesOf(...args: string[]) {
  const { files, slowBuiltins } = loadedBy(launcher, args);
  const own = files
    .filter((url) => !url.includes("/node_modules/"))
    .map((url) => url.split(/.*[/](?=src[/]|gen[/]|packages[/]|package.json)/)[1]!);
  const packages = files.flatMap((url) => /.*[/]node_modules[/]((?:@[^/]+[/])?[^/]+)/.exec(url)?.[1] ?? []);
  return { own, packages: [...new Set(packages)], slowBuiltins };
}

describe("the modules of a command", () => {
  it("--version loads two files, and starts no second process under an older Node", () => {
    assert.deepEqual(modulesOf("--version").own, ["src/gatehouse.js", "src/engine-flags.js", "src/print-version.js"]);
    const command = [...importing(older), launcher, "--version"];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/);
  });

  for (const args of [["--help"], ["iam", "groups", "--help"], ["complete", "--", "iam", "groups", "l"]])
    it(`${args.join(" ")} loads no package but commander, no session, no description of a service, no TLS and no cryptography`, () => {
      const { own, packages, slowBuiltins } = modulesOf(...args);
      assert.deepEqual(packages, ["commander"]);
      assert.deepEqual(slowBuiltins, []);
      assert.deepEqual(
        own.filter((file) => file.startsWith("gen/") || /open-session|output[/]output[.]ts/.test(file)),
        [],
      );
    });

  it("help and completion of client commands load neither the commands nor the configuration of servers", () => {
    for (const args of [
      ["iam", "groups", "--help"],
      ["complete", "--", "iam", "groups", "l"],
    ]) {
      const { own } = modulesOf(...args);
      assert.deepEqual(
        own.filter((file) => /server-commands|src[/]config[/]config[.]ts/.test(file)),
        [],
      );
    }
  });

  it("a command line loads the commands of its first word only, and help and completion of the program load none", () => {
    const chapters = /^src[/]cli[/](?:(?:.*[/])?commands|.*-commands?|resource-chapters)[.]ts$/;
    const chaptersOf = (...args: string[]) =>
      modulesOf(...args).own.filter((file) => chapters.test(file) && !/(?:client-|completion[/])commands/.test(file));
    assert.deepEqual(chaptersOf("--help"), []);
    assert.deepEqual(chaptersOf("help"), []);
    assert.deepEqual(chaptersOf("complete", "--", "i"), []);
    assert.deepEqual(chaptersOf("version", "--help"), ["src/cli/version-command.ts"]);
    assert.deepEqual(chaptersOf("help", "auth"), ["src/cli/auth/commands.ts"]);
    assert.deepEqual(chaptersOf("complete", "--", "api", "-"), ["src/cli/api-command.ts"]);
  });

  it("the help of the program is the same with and without the commands of all chapters", async () => {
    const [whole, names] = await Promise.all(
      [[], ["--help"]].map((args) => newProgram(args, processShell({}), () => {})),
    );
    assert.equal(names!.helpInformation(), whole!.helpInformation());
  });

  it("every command is listed on its side, because a command line loads one side only", async () => {
    const program = await newProgram([], processShell({}), () => {});
    const names = program.commands.map((command) => command.name());
    const shells = ["completion", "complete", "get", "help"];
    assert.deepEqual(
      names.filter((name) => !shells.includes(name)).sort(),
      [...Object.keys(clientCommands), ...Object.keys(serverCommands)].sort(),
    );
  });
});
