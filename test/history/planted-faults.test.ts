// The planted faults fit the program: each replaces text that is there exactly once.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { plantedFaults } from "./planted-faults.ts";

const root = new URL("../../", import.meta.url);

describe("planted faults", () => {
  for (const [name, { module, find }] of Object.entries(plantedFaults))
    it(`${name} replaces one place of the program`, () => {
      const files = globSync("src/**/*.ts", { cwd: fileURLToPath(root) });
      const texts = files
        .map((file) => new URL(file, root))
        .filter((url) => url.href.includes(module))
        .map((url) => readFileSync(url, "utf8"));
      assert.equal(texts.join("\n").split(find).length - 1, 1, `${find} in ${pathToFileURL(module).pathname}`);
    });
});
