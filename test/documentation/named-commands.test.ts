// Commands and flags that pages and hints of the program name between backquotes exist. Those in blocks are run (commands.full.ts).
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { Command } from "commander";
import { newProgram } from "../../src/cli/program.ts";
import { processShell } from "../../src/cli/shell.ts";

const files = [
  "README.md",
  "CONTRIBUTING.md",
  ...globSync("docs/**/*.md", { exclude: ["docs/decisions/**"] }),
  ...globSync("src/cli/**/*.ts", { exclude: ["src/cli/examples.ts"] }),
];

describe("pages and hints", () => {
  it("name commands and flags that exist", async () => {
    const program = await newProgram([], { ...processShell({}), stdout: new PassThrough() as never }, () => {});
    const wrong = files.flatMap((file) =>
      namedCommands(readFileSync(file, "utf8"))
        .filter((line) => !isCommandLine(program, line))
        .map((line) => `${file}: ${line}`),
    );
    assert.deepEqual(wrong, []);
  });
});

function namedCommands(text: string): string[] {
  const lines = [...text.matchAll(/\\?`(gatehouse [^`\n]+?)\\?`/g)].map(([, line = ""]) => line);
  // The words of a command that is put together when the program runs are not known here.
  return lines
    .filter((line) => !line.startsWith("gatehouse ${"))
    .map((line) => line.replace(/ [|>#].*$/, "").replace(/ -o \w+/, ""));
}

/** Whether the words before the first argument name a command, and it has the flags. */
function isCommandLine(program: Command, line: string): boolean {
  let command = program;
  const flags: string[] = [];
  for (const word of line.split(/\s+/).slice(1)) {
    if (word.startsWith("--")) flags.push(word.replace(/[=\]].*$/, "").replace(/[.,]$/, ""));
    else if (command.commands.length > 0 && /^[a-z]/.test(word) && flags.length === 0) {
      const inner = command.commands.find((candidate) => candidate.name() === word.replace(/[,.]$/, ""));
      if (!inner) return false;
      command = inner;
    }
  }
  return flags.every((flag) => flag === "--help" || command.options.some(({ long }) => long === flag));
}
