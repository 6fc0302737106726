// docs/reference/settings.md has every setting, with the text of the help.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { settings, variableOf } from "../../src/config/settings.ts";

const page = "docs/reference/settings.md";

it(`${page} has a row for every setting, with the text of the help`, () => {
  const rows = readFileSync(page, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `--"));
  const wanted = settings.map(({ name, fallback, description, ...rest }) => {
    const flag = "value" in rest ? `--${name} ${rest.value}` : `--${name}`;
    return `| ${flag} | ${variableOf(name)} | ${fallback} | ${description} |`;
  });
  assert.deepEqual(rows.map(plain), wanted.map(plain));
});

/** Returns a row without its formatting. */
function plain(row: string): string {
  return row.replaceAll("`", "").replaceAll(", ", ",").replace(/\s+/g, " ").trim();
}
