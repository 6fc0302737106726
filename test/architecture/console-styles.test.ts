// The style sheets of the console: those of one component (`*.module.css`, next to it), and those that all pages share.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { iconNames } from "../../console/src/shell/icon-names.ts";
import { readSources } from "./sources.ts";

const root = "console/src";
const { codeOf } = readSources(root);
const sheets = globSync("**/*.css", { cwd: root }).map((file) => file.replaceAll("\\", "/"));
const modules = sheets.filter((file) => file.endsWith(".module.css"));
const shared = new Set(sheets.filter((file) => !modules.includes(file)).flatMap(classesIn));

/** The pages that are made without React. */
const markup = ["console/index.html", "console/guide.html", "console/guides.js", `${root}/guides/search-box.ts`].map(
  (file) => readFileSync(file, "utf8"),
);

describe("style sheets of the console", () => {
  for (const sheet of modules)
    it(`${sheet} has the classes that components take from it, and no others`, () => {
      assert.deepEqual(classesIn(sheet).sort(), classesFrom(sheet).sort());
    });

  it("each class that a component names by a text stands in a sheet that all pages share", () => {
    const named = [...codeOf].flatMap(([file, code]) => namesIn(code).map((name) => ({ file, name })));
    assert.deepEqual(
      named.filter(({ name }) => !shared.has(name)),
      [],
    );
  });

  it("each class of a sheet that all pages share is in use", () => {
    const words = new Set([...codeOf.values(), ...markup].flatMap((code) => code.match(/[\w-]+/g) ?? []));
    assert.deepEqual(
      [...shared].filter((name) => !words.has(name)),
      [],
    );
  });

  it("only tokens.css has colours", () => {
    const withColors = (text: string) => /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/i.test(text);
    const others = sheets.filter(
      (file) => file !== "tokens.css" && withColors(readFileSync(path.join(root, file), "utf8")),
    );
    const named = [...codeOf].filter(([, code]) => /["'`]#[0-9a-f]{3,8}["'`]/i.test(code)).map(([file]) => file);
    assert.deepEqual([...others, ...named], []);
  });

  it("style.css has at most 300 lines: what one view or part needs stands next to it", () => {
    assert.ok(readFileSync(path.join(root, "style.css"), "utf8").split("\n").length <= 300);
  });

  it("each icon of the list is drawn", () => {
    const code = [...codeOf].filter(([file]) => file !== "shell/icon-names.ts").map(([, text]) => text);
    assert.deepEqual(
      iconNames.filter((name) => !code.some((text) => text.includes(`"${name}"`))),
      [],
    );
  });

  it("the pages of a sign-in, which have no style sheet, have the colours of tokens.css", () => {
    const tokens = (text: string) => new Set([...text.matchAll(/(--[\w-]+): (#[0-9a-f]{6})/g)].map(([token]) => token));
    const known = tokens(readFileSync(path.join(root, "tokens.css"), "utf8"));
    const used = tokens(readFileSync("src/sign-in/html.ts", "utf8"));
    assert.ok(used.size > 15);
    assert.deepEqual(
      [...used].filter((token) => !known.has(token)),
      [],
    );
  });
});

function classesIn(sheet: string): string[] {
  const css = readFileSync(path.join(root, sheet), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const selectors = css.match(/[^{};]+(?=\{)/g) ?? [];
  return [...new Set(selectors.flatMap((selector) => selector.match(/(?<=\.)[a-z][\w-]*/g) ?? []))];
}

/** Returns the classes that the importers of a sheet take from it, as `styles.cell`. */
function classesFrom(sheet: string): string[] {
  const found = [...codeOf].flatMap(([file, code]) => {
    const imported = [...code.matchAll(/import (\w+) from "(.*\.module\.css)"/g)].find(
      ([, , target = ""]) => path.posix.join(path.posix.dirname(file), target) === sheet,
    );
    return imported ? (code.match(new RegExp(`(?<=\\b${imported[1]}\\.)\\w+`, "g")) ?? []) : [];
  });
  return [...new Set(found)];
}

/** Returns the classes in the texts of `className`. */
function namesIn(code: string): string[] {
  const values = code.match(/(?<=className=)(?:"[^"]*"|\{(?:[^{}]|\$\{[^}]*\})*\})/g) ?? [];
  const texts = values.flatMap((value) => value.replace(/=== "[^"]*"|\$\{[^}]*\}/g, "").match(/["`][^"`]*["`]/g) ?? []);
  return texts.flatMap((text) => text.match(/[a-z][\w-]*/g) ?? []);
}
