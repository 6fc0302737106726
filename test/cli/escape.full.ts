// Text of others that a terminal obeys, or that hides or reorders what is around it, is shown escaped in every format.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { parse as parseYaml } from "yaml";
import { jsonText, printable, printableLines, yamlText } from "../../src/cli/escape.ts";
import { csvText } from "../../src/cli/output/csv.ts";
import { detailsText } from "../../src/cli/output/details.ts";
import { alignedText, tableText } from "../../src/cli/output/table.ts";
import { treeText } from "../../src/cli/output/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Control characters, and those that change the direction of text, hide, or are not seen. */
const points = [
  ...range(0x00, 0x08),
  ...range(0x0b, 0x1f),
  ...range(0x7f, 0x9f),
  0xad,
  0x34f,
  0x61c,
  0x115f,
  0x180e,
  0x200b,
  0x200e,
  0x200f,
  0x2028,
  0x2029,
  ...range(0x202a, 0x202e),
  ...range(0x2060, 0x2069),
  0x206f,
  0x3164,
  0xfeff,
  0xffa0,
  0xfff9,
  0xfffb,
  0x1d173,
  0xe0000,
  0xe0001,
  0xe0020,
  0xe007f,
  0xe0100,
];
const unsafe = String.fromCodePoint(...points);
const isUnsafe = new RegExp(`[${points.map((point) => `\\u{${point.toString(16)}}`).join("")}]`, "u");
/** Characters that output does not escape. */
const harmless = "Grüße, 日本語, 👍️, a\tb\nc, \\u{9b}, '\"#: - x";

/** Returns a cell with a quote in it (RFC 4180). */
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

const view = { noun: "things", columns: ["name", "uid", "note"].map((name) => ({ title: name, value: name })) };

describe("output", () => {
  for (const [i, point] of points.entries()) {
    const char = String.fromCodePoint(point);
    const text = `a${char}b`;
    const row = { name: text, uid: "u", note: text, [text]: [text, { [text]: text }] };
    it(`escapes U+${point.toString(16).padStart(4, "0")} in every format, and keeps the value of JSON and YAML`, async () => {
      assert.equal(printable(text), `a\\u{${point.toString(16)}}b`);
      const json = [jsonText(row), jsonText(row, 2)];
      const yaml = await yamlText(row);
      const section = { key: "s", title: text, view, rows: [row] };
      for (const shown of [
        ...json,
        yaml,
        csvText(view.columns, [row], true),
        await tableText(view.columns, [row]),
        treeText(view, [row]),
        await detailsText(view, row, i % 2 === 0 ? [section] : []),
        printableLines(text),
      ])
        assert.doesNotMatch(shown, isUnsafe);
      for (const text of json) assert.deepEqual(JSON.parse(text), row);
      assert.deepEqual(parseYaml(yaml), row);
    });
  }

  it("leaves other characters unchanged", async () => {
    const row = { name: harmless, uid: "u", note: "" };
    assert.ok(jsonText(row).includes("Grüße, 日本語, 👍️"));
    assert.deepEqual(parseYaml(await yamlText(row)), row);
    assert.equal(csvText(view.columns, [row], false), `${quoted(harmless)},u,\n`);
    assert.equal(printableLines("a\n  b"), "a\n  b");
  });

  it("escapes what is escaped already no further", () => {
    assert.equal(printable(printable(unsafe)), printable(unsafe));
  });
});

describe("aligned text", () => {
  it("counts two columns for wide characters and one for others", async () => {
    const lines = [
      ["日本", "x"],
      ["Grüße", "y"],
    ];
    assert.equal(await alignedText(lines), "日本    x\nGrüße   y\n");
    assert.equal(
      await alignedText([
        ["ab", "x"],
        ["abcde", "y"],
      ]),
      "ab      x\nabcde   y\n",
    );
  });
});

describe("cells of CSV", () => {
  for (const begin of ["=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠"]) {
    it(`cells that begin with ${JSON.stringify(begin)} get an apostrophe, so no spreadsheet runs them`, () => {
      const text = csvText(view.columns, [{ name: `${begin}HYPERLINK("https://x.test")`, uid: "u", note: "x" }], false);
      assert.equal(text, `${quoted(`'${begin}HYPERLINK("https://x.test")`)},u,x\n`);
    });
  }

  it("cells that begin with a carriage return are escaped, and those with a separator of some locale are quoted", () => {
    assert.match(csvText(view.columns, [{ name: "\r=1+1", uid: "u", note: "x" }], false), /^\\u\{d\}=1\+1,/);
    assert.match(csvText(view.columns, [{ name: "x;=1+1", uid: "a\t=1", note: "x" }], false), /^"x;=1\+1","a\t=1",/);
  });
});

describe("the command line", () => {
  let caller: Caller;
  const description = `\u001b]0;title\u0007\u009b2J\u202eevil\u{e0041}\u007f`;
  before(async () => {
    caller = await startCaller();
    const body = path.join(caller.home, "odd.json");
    writeFileSync(body, JSON.stringify({ name: "odd", description }));
    const { code, stderr } = await caller.run("iam", "groups", "create", "--parent", "example.org", "-f", body);
    assert.equal(code, 0, stderr);
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u{e0041}]/u;

  for (const format of ["table", "wide", "json", "yaml", "csv", "id", "tree"]) {
    it(`prints nothing that a terminal obeys with -o ${format}`, async () => {
      for (const args of [
        ["iam", "groups", "list", "-o", format],
        ["iam", "groups", "list", "--query", "items[].description", "-o", format],
        ["iam", "folders", "describe", "odd", ...(format === "tree" ? [] : ["-o", format])],
      ]) {
        const { code, stdout, stderr } = await caller.run(...args);
        assert.equal(code, 0, stderr);
        assert.doesNotMatch(stdout, obeyed, args.join(" "));
      }
    });
  }

  it("prints JSON and YAML with the value as it is", async () => {
    const args = ["iam", "folders", "describe", "odd", "-o"];
    assert.equal(JSON.parse((await caller.run(...args, "json")).stdout).description, description);
    assert.equal(parseYaml((await caller.run(...args, "yaml")).stdout).description, description);
  });

  it("prints what a raw request, an audit log and an error have of it escaped, too", async () => {
    const { stdout } = await caller.run("api", "GET", "/iam/v2beta1/groups", "-q", "name=odd");
    assert.equal(JSON.parse(stdout).groups[0].description, description);
    assert.doesNotMatch(stdout, obeyed);
    const changes = await caller.run("changes", "list", "--parent", "example.org", "-o", "json");
    assert.ok(changes.stdout.includes("\\u202eevil"));
    assert.doesNotMatch(changes.stdout, obeyed);
    for (const args of [
      ["iam", "groups", "describe", description],
      ["iam", "groups", "delete", description],
      ["iam", "groups", "list", "--sort", description],
      ["iam", "groups", "list", "--query", description],
      ["iam", description],
      ["api", "GET", `/${description}`],
    ]) {
      const { code, stderr } = await caller.run(...args);
      assert.notEqual(code, 0);
      assert.doesNotMatch(stderr, obeyed, args.join(" "));
    }
  });
});
