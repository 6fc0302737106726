// Runs the commands of every page, and compares what they print with what the page shows. README.md of this folder has the rules.
import { globSync, readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { missingPrograms } from "./missing-programs.ts";
import { runPage } from "./run-page.ts";

// Records of decisions are history.
const pages = ["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { exclude: ["docs/decisions/**"] })].sort();

const missing = missingPrograms(["bash", "curl"]);
const skip = missing.length > 0 && `${missing.join(", ")} not installed`;

describe("the commands of the pages", () => {
  const notRun: string[] = [];
  for (const page of pages) {
    it(`${page} shows what its commands print`, { skip }, async (t) => {
      const skipped = await runPage(page, readFileSync(page, "utf8"));
      for (const { line, reason } of skipped) notRun.push(`${page}:${line}: ${reason}`);
      if (skipped.length > 0) t.diagnostic(`${skipped.length} blocks not run`);
    });
  }
  after(() => {
    console.log(`${notRun.length} blocks of the pages were not run:\n  ${notRun.join("\n  ")}`);
  });
});
