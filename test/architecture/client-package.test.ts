// The client package stands on generated code and Connect alone. The command line uses it, and the console its reading of errors.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { imports } from "./sources.ts";

const folder = "packages/client/src";
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

/** Returns the modules that a file imports. */
function importedBy(file: string): string[] {
  const code = readFileSync(path.join(folder, file), "utf8");
  return [...code.matchAll(/^(?:import|export)\b[^"']*? from "([^"]+)"/gm)].map(([, name]) => name!);
}

/** Returns the files that a file loads when it is imported, with itself. Imports of types count, too. */
function reachedFrom(file: string): Set<string> {
  const found = new Set([file]);
  for (const next of found)
    for (const name of importedBy(next)) if (name.startsWith("./")) found.add(path.join(path.dirname(next), name));
  return found;
}

describe("the client package", () => {
  it("imports generated code, and the packages of its manifest", () => {
    const { dependencies } = JSON.parse(readFileSync("packages/client/package.json", "utf8"));
    const allowed = new RegExp(`^(\\./|(\\.\\./){3,4}gen/|node:|(${Object.keys(dependencies).join("|")})(/|$))`);
    const others = files.flatMap((file) => importedBy(file).filter((name) => !allowed.test(name)));
    assert.deepEqual(others, []);
  });

  it("has the versions of this repository", () => {
    const own = JSON.parse(readFileSync("packages/client/package.json", "utf8"));
    const root = JSON.parse(readFileSync("package.json", "utf8"));
    assert.equal(own.version, root.version);
    const known = { ...root.devDependencies, ...root.dependencies };
    for (const [name, version] of Object.entries(own.dependencies)) assert.equal(known[name], version, name);
  });

  for (const entry of ["index.ts", "web.ts"])
    it(`needs no Node in ${entry}`, () => {
      const modules = [...reachedFrom(entry)].flatMap(importedBy);
      assert.ok(modules.length > 10);
      assert.deepEqual(
        modules.filter((name) => name.startsWith("node:") || name === "@connectrpc/connect-node"),
        [],
      );
    });

  it("the console imports only errors, rules of jobs and sentences of the client package, and after the first view what follows changes: the rest would make that view larger", () => {
    const sources = readdirSync("console/src", { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    const used = sources.flatMap((file) =>
      [...readFileSync(path.join("console/src", file), "utf8").matchAll(/"(?:\.\.\/)+(packages\/[^"]+)"/g)].map(
        ([, name]) => name!,
      ),
    );
    const names = ["errors.ts", "job-rules.ts", "sentences.ts", "watch.ts"];
    assert.deepEqual(
      [...new Set(used)].sort(),
      names.map((name) => `packages/client/src/${name}`),
    );
    for (const name of ["errors.ts", "job-rules.ts"]) assert.deepEqual([...reachedFrom(name)], [name]);
  });

  it("is used by the command line, and by nothing else in src", () => {
    const users = imports.filter(({ target }) => target.startsWith("packages/")).map(({ from }) => from);
    assert.ok(users.length > 0);
    assert.deepEqual(
      users.filter((file) => !file.startsWith("cli/")),
      [],
    );
  });
});
