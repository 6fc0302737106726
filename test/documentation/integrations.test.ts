// Each page of docs/integrations says whether it is run, says it truly, and stands on the list of pages with the same words.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { settingsNamed } from "../deploy/settings-named.ts";
import { blocksOf } from "./blocks.ts";

const folder = "docs/integrations";
const pages = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
const list = readFileSync(`${folder}/README.md`, "utf8");

for (const page of pages)
  describe(`${folder}/${page}`, () => {
    const text = readFileSync(`${folder}/${page}`, "utf8");
    const [, title, status = "", more = ""] =
      /^# (.+)\n\n> \*\*(Run in the tests|Run by hand|Not run)\.?\*\*((?:.*\n(?:> )?)+)/.exec(text) ?? [];
    const blocks = blocksOf(text);

    it("says whether it is run, and so does the list", () => {
      assert.notEqual(status, "");
      assert.match(list, new RegExp(`\\| \\[${title}\\]\\(${page}\\) \\| ${status} \\|`));
    });

    it("has commands that run if it says so, or names the test", () => {
      const isRun = blocks.some(
        ({ language, attributes }) => ["sh", "console"].includes(language) && !attributes.has("no-run"),
      );
      const tests = [...more.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, file]) => file!);
      assert.deepEqual(
        tests.filter((file) => !existsSync(file)),
        [],
      );
      if (status === "Not run") assert.equal(isRun, false);
      if (status === "Run in the tests") assert.ok(isRun || tests.length > 0);
    });

    it("names settings that exist, and has YAML and JSON that can be read", () => {
      const own = text.replaceAll(/GATEHOUSE_(ID_TOKEN|CLIENT_SECRET|URL|TOKEN|REGISTRY_PASSWORD)\b/g, "");
      assert.deepEqual(settingsNamed(own).unknown, []);
      for (const { language, text: code } of blocks) {
        if (language === "json") JSON.parse(code);
        if (language === "yaml")
          assert.deepEqual(
            parseAllDocuments(code).flatMap((each) => each.errors),
            [],
          );
      }
    });
  });
