// The manual pages that `npm run build` makes.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { writeManPages } from "../../build/man.ts";
import { examples } from "../../src/cli/examples.ts";

const noMandoc = spawnSync("which", ["mandoc"]).status !== 0 && "mandoc is not installed";
if (noMandoc) console.error(`the syntax of the manual pages is not checked: ${noMandoc}`);

describe("the manual pages", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-man-"));
  let files: string[];
  before(async () => {
    files = await writeManPages(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const page = (name: string) => readFileSync(path.join(folder, `${name}.1`), "utf8");
  /** Returns pages as a terminal shows them. Bold letters are struck twice. */
  const rendered = (...names: string[]) =>
    execFileSync("mandoc", ["-T", "ascii", ...names], { cwd: folder, encoding: "utf8" })
      .split("\b")
      .map((part, i, { length }) => (i < length - 1 ? part.slice(0, -1) : part))
      .join("");

  it("the manual pages are one for each command that the help shows", () => {
    // A test of the examples compares their keys with the help.
    const names = Object.keys(examples).map((words) => `gatehouse ${words}`.trim().replaceAll(" ", "-"));
    assert.deepEqual(files.toSorted(), names.map((name) => `${name}.1`).sort());
  });

  it("refer to pages that exist", () => {
    for (const file of files)
      for (const [, name] of page(path.basename(file, ".1")).matchAll(/^\.BR (\S+) \(1\)/gm))
        assert.ok(files.includes(`${name!.replaceAll("\\-", "-")}.1`), `${file}: ${name}`);
  });

  it("the manual pages have the exit codes of the reference", () => {
    assert.match(page("gatehouse"), /^\.SH "EXIT STATUS"\n\.TP\n\.B 0\ndone\n\.TP\n\.B 1\n/m);
  });

  it("the manual pages have no errors or warnings of mandoc", { skip: noMandoc }, () => {
    const { status, stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning", ...files], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.deepEqual([stdout, status], ["", 0]);
  });

  it("the manual pages show what the help shows", { skip: noMandoc }, () => {
    const text = rendered("gatehouse-iam-groups-create.1").replaceAll(/\s+/g, " ");
    for (const shown of [
      "gatehouse-iam-groups-create - create one group",
      "SYNOPSIS gatehouse iam groups create [options] [name]",
      "--parent <name|uid> the group to create it in (default.group)",
      "SERVER AND TOKEN --url <url>",
      "(GATEHOUSE_CONTEXT, config use-context)",
      "EXAMPLES gatehouse iam groups create research --parent example.org",
      "SEE ALSO gatehouse-iam-groups(1)",
    ])
      assert.ok(text.includes(shown), `${shown}\n${text}`);
  });

  it("the manual pages keep backslashes, quotes and dots of examples", { skip: noMandoc }, () => {
    const text = rendered(...files);
    for (const line of Object.values(examples).flat()) assert.ok(text.includes(`     ${line}\n`), line);
  });
});
