// What the documents say that a program can check.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { settings, variableOf } from "../src/config/settings.ts";

const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...["bench/README.md", "test/README.md", "test/documentation/README.md"],
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((file) => path.join("docs", file)),
].filter((file) => file.endsWith(".md"));

const sources = ["src", "test", "bench", "gen"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => path.posix.join(folder, file)),
);

describe("documents", () => {
  for (const page of pages) {
    it(`${page}: what it links to is there`, () => {
      for (const [, target] of withoutCode(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [file, anchor] = target!.split("#");
        const linked = file ? path.join(path.dirname(page), file) : page;
        assert.ok(existsSync(linked), `there is no ${linked}`);
        if (anchor) assert.ok(anchorsOf(linked).includes(anchor), `${linked} has no heading #${anchor}`);
      }
    });
  }

  for (const page of pages) {
    it(`${page}: the sources that it names are there`, () => {
      const named = [...withoutCode(page).matchAll(/`([\w./-]+\.(?:ts|js))`/g)].map(([, file]) => file!);
      const missing = named.filter(
        (file) => !isExample(file) && !sources.some((source) => `/${source}`.endsWith(`/${file}`)),
      );
      assert.deepEqual(missing, []);
    });
  }

  it("every setting has its row, in the words of the help", () => {
    const rows = readFileSync("docs/reference/settings.md", "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| `--"));
    const wanted = settings.map(({ name, fallback, description, ...rest }) => {
      const flag = "value" in rest ? `--${name} ${rest.value}` : `--${name}`;
      return `| ${flag} | ${variableOf(name)} | ${fallback} | ${description} |`;
    });
    assert.deepEqual(rows.map(plain), wanted.map(plain));
  });
});

function withoutCode(page: string): string {
  return readFileSync(page, "utf8").replace(/^```[\s\S]*?^```$/gm, "");
}

/** What CONTRIBUTING.md shows the way by. */
function isExample(file: string): boolean {
  return path.basename(file) === "things.ts";
}

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  const headings = withoutCode(page).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** A row without what only its look is made of. */
function plain(row: string): string {
  return row.replaceAll("`", "").replaceAll(", ", ",").replace(/\s+/g, " ").trim();
}
