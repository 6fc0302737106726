// Tests which files `gatehouse apply -f DIRECTORY` reads, which ones it reports as left out, and what a prune must not delete.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";

const role = (name: string) => `kind: Role\nname: ${name}\ncapabilities: [groups.list]\n`;

describe("the files of gatehouse apply", () => {
  let caller: Caller;
  let folder: string;
  let name = "acme";
  let organization: string;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller[Symbol.asyncDispose]());
  beforeEach(() => {
    name += "e";
    organization = `kind: Organization\nname: ${name}\n---\nkind: Group\nname: engineering\n`;
    folder = path.join(caller.home, "files");
    for (const each of ["files", "elsewhere"]) rmSync(path.join(caller.home, each), { recursive: true, force: true });
  });

  function write(files: Readonly<Record<string, string>>): void {
    for (const [each, text] of Object.entries(files)) {
      const file = path.join(folder, each);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  function link(file: string, target: string): void {
    symlinkSync(target, path.join(folder, file));
  }

  async function applied(...more: string[]) {
    const { code, stdout, stderr } = await caller.run("apply", "-f", folder, "--yes", ...more);
    assert.equal(code, 0, stderr);
    return { stdout, stderr };
  }

  it("links to files and to directories are followed, so a prune keeps what they define", async () => {
    write({
      "acme.yaml": organization,
      "../elsewhere/roles.yaml": role("linked"),
      "../elsewhere/more/roles.yaml": role("in-a-linked-directory"),
    });
    link("roles.yaml", "../elsewhere/roles.yaml");
    link("more", "../elsewhere/more");
    await applied();
    const { stdout } = await applied("--prune");
    assert.match(stdout, /Applied: 0 created, 0 updated, 0 deleted, 4 unchanged/);
  });

  it("the directory of a mounted ConfigMap is read, and its entries with dots are named as left out", async () => {
    write({ "..2026_11_28/acme.yaml": organization, "..2026_11_28/roles.yaml": role("mounted") });
    link("..data", "..2026_11_28");
    link("acme.yaml", "..data/acme.yaml");
    link("roles.yaml", "..data/roles.yaml");
    const first = await applied();
    assert.match(first.stdout, /role mounted$/m);
    for (const each of ["..data", "..2026_11_28"])
      assert.ok(
        first.stderr.includes(`left out: ${path.join(folder, each)}: its name begins with a dot\n`),
        first.stderr,
      );
    assert.match((await applied("--prune")).stdout, / 0 deleted, 3 unchanged/);
  });

  it("everything that is not read is named on standard error", async () => {
    write({
      "acme.yaml": organization,
      "README.md": "# Files of acme\n\nkind of a readme\n",
      ".git/HEAD": "ref: refs/heads/main\n",
      ".github/workflows/ci.yaml": "on: push\njobs: {}\n",
      "ROLES.YAML": role("capital"),
    });
    link("again.yaml", "acme.yaml");
    link("round", ".");
    const { stderr } = await applied("--prune");
    const shown = stderr.split("\n").filter((line) => line.startsWith("left out: "));
    assert.deepEqual(
      shown.map((line) => line.replaceAll(`${folder}/`, "").replaceAll(folder, ".").slice("left out: ".length)),
      [
        ".git: its name begins with a dot",
        ".github: its name begins with a dot",
        "README.md: its name does not end in .yaml, .yml or .json",
        "again.yaml: it is the same as acme.yaml",
        "round: it is the same as .",
      ],
    );
  });

  const skipped: readonly (readonly [rule: string, file: string, text?: string])[] = [
    ["with a dot", ".roles.yaml"],
    ["in a directory with a dot", ".old/roles.yaml"],
    ["with another ending", "roles.yaml.off"],
    ["in JSON", ".roles.json", '{"kind": "Role", "name": "kept", "capabilities": ["groups.list"]}'],
  ];
  for (const [rule, file, text = role("kept")] of skipped) {
    it(`a prune changes nothing if it would delete what a file defines that is left out: one ${rule}`, async () => {
      write({ "acme.yaml": organization, "kept.yaml": role("kept") });
      await applied();
      rmSync(path.join(folder, "kept.yaml"));
      write({ [file]: text, "others.yaml": role("other") });
      for (const command of [["apply", "--yes"], ["diff"]]) {
        const { code, stdout, stderr } = await caller.run(...command, "-f", folder, "--prune");
        assert.deepEqual([code, stdout], [2, ""]);
        assert.ok(stderr.includes(`${path.join(folder, file)} has resources, which a prune would delete`), stderr);
      }
      const roles = await caller.json("iam", "roles", "list", "--parent", name);
      assert.ok(roles.items.some((each: { name: string }) => each.name === "kept"));
      const named = await caller.run("diff", "-f", folder, path.join(folder, file), "--prune");
      assert.match(named.stdout, /\+ role other/);
      assert.doesNotMatch(named.stdout, /- role kept/);
    });
  }

  it("a link that leads nowhere is an error", async () => {
    write({ "acme.yaml": organization });
    link("roles.yaml", "../elsewhere/roles.yaml");
    const { code, stderr } = await caller.run("apply", "-f", folder, "--yes");
    assert.equal(code, 2);
    assert.match(stderr, /roles\.yaml cannot be read: ENOENT/);
  });
});
