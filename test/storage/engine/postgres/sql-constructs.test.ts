// The SQL of Gatehouse against the list of what is outside of the common set of PostgreSQL-compatible databases.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { commonFunctions, ownFunctions, uncommonConstructs } from "./sql-constructs.ts";

const root = path.join(import.meta.dirname, "../../../..");
const storage = path.join(root, "src/storage");

/** Files with SQL for PostgreSQL, without comments, by their path in src/storage. */
const sources = new Map(
  readdirSync(storage, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:ts|sql)$/.test(file) && !/sqlite/.test(file))
    .map((file) => [file, withoutComments(readFileSync(path.join(storage, file), "utf8"))]),
);

function withoutComments(text: string): string {
  return text.replace(/^\s*\/\*\*[\s\S]*?\*\/|^\s*(?:\/\/|--).*$/gm, "");
}

/** Returns the SQL of a file: all of a migration, tagged templates, and the text literals of the engine. */
function sqlOf(file: string, source: string): string[] {
  if (file.endsWith(".sql")) return [source];
  const literals = file.startsWith("engine/postgres/")
    ? [...source.matchAll(/`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g)].map(([, template, text]) => template ?? text)
    : [];
  return [...taggedTemplates(source), ...literals].map((text = "") => text.replace(/\$\{[^}]*\}/g, "?"));
}

/** Returns the texts of all templates with the tag `sql`, inner ones first. */
function taggedTemplates(source: string): string[] {
  const innermost = /\bsql(?:<[^`]*?>)?`((?:(?!\bsql(?:<[^`]*?>)?`)[^`])*)`/;
  const texts: string[] = [];
  let rest = source;
  for (let match = innermost.exec(rest); match; match = innermost.exec(rest)) {
    texts.push(match[1]!);
    rest = `${rest.slice(0, match.index)}?${rest.slice(match.index + match[0].length)}`;
  }
  return texts;
}

/** Words that stand before a parenthesis without being functions. */
const keywords = new Set(
  "and as btree by exists from gin identity in insert into join key not on or over primary select table unique using values with".split(
    " ",
  ),
);

describe("SQL for PostgreSQL", () => {
  for (const { name, pattern, files } of uncommonConstructs)
    it(`uses ${name} only where the list says so`, () => {
      const found = [...sources].filter(([, source]) => pattern.test(source)).map(([file]) => file);
      assert.deepEqual(found.sort(), [...files].sort());
    });

  it("calls only functions that are common, listed or its own", () => {
    const calls = [...sources].flatMap(([file, source]) =>
      sqlOf(file, source)
        .filter((text) => file.endsWith(".sql") || !text.includes("://"))
        .flatMap((text) =>
          [...text.matchAll(/(?<!["\w.]|\bas )([a-z_]+)\(/gi)].map(([call, name = ""]) => ({
            file,
            call,
            name: name.toLowerCase(),
          })),
        ),
    );
    const unknown = calls.filter(
      ({ call, name }) =>
        !keywords.has(name) &&
        !commonFunctions.has(name) &&
        !ownFunctions.has(name) &&
        !uncommonConstructs.some(({ pattern }) => pattern.test(call)),
    );
    assert.ok(calls.length > 20);
    assert.deepEqual(
      unknown.map(({ file, name }) => `${file}: ${name}`),
      [],
    );
  });

  it("has a row for each construct on the page about databases", () => {
    const page = readFileSync(path.join(root, "docs/operate/database.md"), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    for (const { name } of uncommonConstructs) {
      const first = name.split(", ").map((part) => `\`${part.replace(/ columns$/, "")}\``);
      assert.ok(
        rows.some((row) => first.every((part) => row.split("|")[1]!.includes(part))),
        name,
      );
    }
  });
});
