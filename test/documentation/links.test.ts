// Links of the pages lead to pages and headings, and source files that they name exist.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "bench/README.md",
  "examples/README.md",
  "packages/client/README.md",
  "test/README.md",
  "test/documentation/README.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((file) => path.join("docs", file)),
].filter((file) => file.endsWith(".md"));

const sources = ["src", "test", "bench", "gen", "build", "packages", "console/src"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => path.posix.join(folder, file)),
);

describe("pages", () => {
  for (const page of pages) {
    it(`${page} has links to existing pages and headings only`, () => {
      for (const [, target] of withoutCode(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [file, anchor] = target!.split("#");
        const linked = file ? path.join(path.dirname(page), file) : page;
        assert.ok(existsSync(linked), `there is no ${linked}`);
        if (anchor) assert.ok(anchorsOf(linked).includes(anchor), `${linked} has no heading #${anchor}`);
      }
    });
  }

  for (const page of pages.filter((each) => each !== "CHANGELOG.md")) {
    it(`${page} names existing folders and files of the repository only`, () => {
      const named = [
        ...withoutCode(page).matchAll(
          /`((?:src|test|docs|deploy|bench|build|proto|examples|console|packages)\/[\w./-]*)`/g,
        ),
      ];
      const missing = named.map(([, file]) => file!).filter((file) => !isExample(file) && !existsSync(file));
      assert.deepEqual(missing, []);
    });
  }

  for (const page of pages) {
    it(`${page} names existing source files only`, () => {
      const named = [...withoutCode(page).matchAll(/`([\w./-]+\.(?:ts|js))`/g)].map(([, file]) => file!);
      const missing = named.filter(
        (file) => !isExample(file) && !sources.some((source) => `/${source}`.endsWith(`/${file}`)),
      );
      assert.deepEqual(missing, []);
    });
  }
});

function withoutCode(page: string): string {
  return readFileSync(page, "utf8").replace(/^( *)```[\s\S]*?^\1```$/gm, "");
}

/** Returns the examples of CONTRIBUTING.md, what `npm run build` writes, and a file that operators write. */
function isExample(file: string): boolean {
  return /\b(?:things|first-change)\b/.test(file) || file === "dist/gatehouse.js" || file === "deploy/.env";
}

/** Returns the anchors that GitHub gives to headings. */
function anchorsOf(page: string): string[] {
  const headings = withoutCode(page).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
