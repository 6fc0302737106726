// The pages of docs/design and docs/decisions against the sources.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { getTableName } from "drizzle-orm";
import { decisionIndex, indexPath } from "../../build/decision-index.ts";
import { sqliteTables } from "../../src/storage/schema/tables.sqlite.ts";
import { imports } from "../architecture/sources.ts";

/** Of a design page that took the place of decision records. */
const maxWords = 1200;

const architecture = readFileSync("docs/design/architecture.md", "utf8");

/** The folders that the page describes, in its order: from the bottom up. */
const described = [...architecture.matchAll(/^\*\*`([a-z0-9-]+)\/`\*\*/gm)].map(([, folder]) => folder!);

describe("architecture.md", () => {
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
});

describe("the tables in architecture.md", () => {
  const names = Object.values(sqliteTables).map(getTableName);

  it("architecture.md lists all tables of the schema, except index tables", () => {
    const missing = names.filter((name) => !name.endsWith("_entries") && !architecture.includes(`\`${name}\``));
    assert.deepEqual(missing, [], `the tables in docs/design/architecture.md lack ${missing}`);
  });
});

describe("the index of decision records", () => {
  it("the index of decision records is what build/decision-index.ts writes", () => {
    const index = readFileSync(indexPath, "utf8");
    assert.equal(index, decisionIndex(), `run: node build/decision-index.ts (writes ${indexPath})`);
  });

  it("the index of decision records has each number once", () => {
    const numbers = [...decisionIndex().matchAll(/^\| \[(\d{4})\]/gm)].map(([, number]) => number!);
    assert.deepEqual(numbers, [...new Set(numbers)]);
  });
});

describe("pages of docs/design and docs/decisions", () => {
  const pages = globSync("docs/{design,decisions}/*.md").sort();

  for (const page of pages.filter((each) => /^This page has the content/m.test(readFileSync(each, "utf8"))))
    it(`${page} has at most ${maxWords} words`, () => {
      const words = readFileSync(page, "utf8").split(/\s+/).filter(Boolean).length;
      assert.ok(words <= maxWords, `${words} words`);
    });

  for (const page of pages)
    it(`${page} names folders that exist`, () => {
      const named = [...readFileSync(page, "utf8").matchAll(/`((?:[a-z0-9-]+\/)+)`/g)].map(([, folder]) => folder!);
      const places = ["src", "src/storage", "src/transport", "."];
      const missing = named.filter((folder) => !places.some((place) => existsSync(path.join(place, folder))));
      assert.deepEqual(missing, []);
    });
});

describe("code, tests and pages", () => {
  it("cite decision records that exist", () => {
    const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n");
    const cited = files
      .filter((file) => /\.(?:ts|tsx|js|md|yaml|proto)$/.test(file) && existsSync(file))
      .flatMap((file) => citedRecords(file).map((number) => ({ file, number })));
    const missing = cited.filter(({ number }) => globSync(`docs/decisions/${number}-*.md`).length === 0);
    assert.deepEqual(missing, []);
  });
});

function citedRecords(file: string): string[] {
  const citations = readFileSync(file, "utf8").matchAll(/\bdecisions?[ /](0\d{3})\b/g);
  return [...citations].map(([, number]) => number!);
}

describe("0051-libraries.md", () => {
  it("the record on libraries lists every dependency", () => {
    const record = readFileSync("docs/decisions/0051-libraries.md", "utf8");
    const words = new Set(record.split(/[\s|,;()`]+/));
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => !words.has(name)),
      [],
    );
  });
});
