// The pages of docs/design and docs/decisions against the sources.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { getTableName } from "drizzle-orm";
import { sqliteTables } from "../../src/storage/schema/tables.sqlite.ts";
import { files, imports } from "../architecture/sources.ts";

const architecture = readFileSync("docs/design/architecture.md", "utf8");

/** The folders that the page describes, in its order: from the bottom up. */
const described = [...architecture.matchAll(/^\*\*`([a-z0-9-]+)\/`\*\*/gm)].map(([, folder]) => folder!);

describe("architecture.md", () => {
  it("describes every folder of src", () => {
    const folders = new Set(files.filter((file) => file.includes("/")).map((file) => file.split("/")[0]!));
    assert.deepEqual([...described].sort(), [...folders].filter((folder) => folder !== "bundle").sort());
  });

  it("lists each folder after the folders that it imports", () => {
    const placeOf = (file: string) => described.indexOf(file.split("/")[0]!);
    const wrong = imports.filter(
      ({ from, target, isPackage }) => !isPackage && placeOf(from) >= 0 && placeOf(target) > placeOf(from),
    );
    assert.deepEqual(
      wrong.map(({ from, target }) => `${from} imports ${target}`),
      [],
    );
  });

  it("names folders that exist", () => {
    const named = [...architecture.matchAll(/`((?:[a-z0-9-]+\/)+)`/g)].map(([, folder]) => folder!);
    const places = ["src", "src/storage", "src/transport", "."];
    const missing = named.filter((folder) => !places.some((place) => existsSync(path.join(place, folder))));
    assert.deepEqual(missing, []);
  });
});

describe("the tables in architecture.md", () => {
  const names = Object.values(sqliteTables).map(getTableName);

  it("are all tables of the schema; entries stand for all index tables", () => {
    const missing = names.filter((name) => !name.endsWith("_entries") && !architecture.includes(`\`${name}\``));
    assert.deepEqual(missing, []);
  });
});

describe("the index of decision records", () => {
  const index = readFileSync("docs/decisions/README.md", "utf8");
  for (const file of globSync("docs/decisions/[0-9]*.md").sort()) {
    it(`has ${path.basename(file)} with its title and status`, () => {
      const record = readFileSync(file, "utf8");
      const [, number, title] = /^# (\d{4}): (.+)$/m.exec(record) ?? [];
      const status = /^Status: ((?:.+\n)+)/m.exec(record)?.[1]?.replaceAll("\n", " ").trim();
      const row = `| [${number}](${path.basename(file)}) | ${title} | ${status} |`;
      assert.ok(index.includes(`${row}\n`), `docs/decisions/README.md lacks the row\n${row}`);
    });
  }
});

describe("0051-libraries.md", () => {
  it("has every dependency", () => {
    const record = readFileSync("docs/decisions/0051-libraries.md", "utf8");
    const words = new Set(record.split(/[\s|,;()`]+/));
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => !words.has(name)),
      [],
    );
  });
});
