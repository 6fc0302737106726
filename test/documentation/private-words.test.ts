// Words that Gatehouse used for things that have a name in the field. Only those that mean nothing else are listed.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

interface PrivateWord {
  readonly pattern: RegExp;
  /** The word to write instead. */
  readonly instead: string;
}

const words: readonly PrivateWord[] = [
  {
    pattern: /\b(?:whoever|somebody|those who)\b/i,
    instead: "caller, client, user, operator, or the role of the person",
  },
  { pattern: /\bwhatever\b/i, instead: "any, all, regardless of" },
  { pattern: /\banew\b/i, instead: "again" },
  { pattern: /\bin vain\b/i, instead: "fails, failed, without a result" },
  { pattern: /\bfor good\b(?! reason)/i, instead: "permanently" },
  { pattern: /\bdoors?\b/i, instead: "transport" },
  { pattern: /\bmilestones?\b/i, instead: "checkpoint" },
  { pattern: /\b(?:un)?seal(?:s|ed|ing)?\b/i, instead: "encrypt, decrypt" },
  { pattern: /\bin the clear\b/i, instead: "unencrypted" },
  { pattern: /\b(?:is|are|was|were) owed\b/i, instead: "unsent, pending" },
  { pattern: /\bbeside\b/i, instead: "next to, in addition to, concurrently with" },
  { pattern: /\bso that\b/i, instead: "to, because, or a sentence of its own" },
  {
    pattern: /(?<!\bthere )\b(?:is|are) (?:none\b|no\b(?! (?:longer|such|more|later|earlier)\b))/i,
    instead: "is not a",
  },
  { pattern: /\bas far as it goes\b/i, instead: "a definite limit" },
  { pattern: /\bSoon\b/, instead: "MaybePromise, lazy, on first use" },
  { pattern: /\bdisplaced\b/i, instead: "evicted" },
  { pattern: /\bawaited (?:people|person|users?)\b/i, instead: "pending user" },
  { pattern: /\blest\b/i, instead: "because otherwise" },
  { pattern: /\b(?:lately|once more)\b/i, instead: "recently, again" },
];

interface Exception {
  readonly file: RegExp;
  readonly text: RegExp;
  readonly reason: string;
}

const exceptions: readonly Exception[] = [
  {
    file: /^(?:src|test)\/advisories\/versions\//,
    text: /"milestone"|1\.0-milestone/,
    reason: "a qualifier of Maven versions",
  },
  { file: /^src\/observe\/metrics\.ts$|^docs\/reference\/metrics\.md$/, text: /door/, reason: "a deprecated label" },
  {
    file: /^CHANGELOG\.md$/,
    text: /instead of `door`|labels `method` and `door`/,
    reason: "says what replaces the label",
  },
  {
    file: /\/sign-in(?:\/|\.ts$)|^test\/security\/mix-up\.test\.ts$/,
    text: /\bsealed\b/,
    reason: "a stored column",
  },
  { file: /^(?:src|test)\//, text: /gatehouse-sealed:1:/, reason: "a prefix of stored values" },
];

const ownPath = "test/documentation/private-words.test.ts";

describe("private words", () => {
  for (const folder of ["src", "proto", "docs", "bench", "build", "test"]) {
    it(`${folder}/ has none of the private words of Gatehouse`, () => {
      assert.deepEqual(filesIn(folder).flatMap(findingsIn), []);
    });
  }

  it("the pages of the root folder have none of the private words of Gatehouse", () => {
    const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    assert.deepEqual(pages.flatMap(findingsIn), []);
  });
});

function filesIn(folder: string): string[] {
  return (
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((file) => path.posix.join(folder, file))
      // A workspace among the tests has packages of its own.
      .filter((file) => file !== ownPath && !file.includes("/node_modules/"))
      .filter((file) => /\.(?:ts|js|md|proto)$/.test(file) || /^test\/api\/.*\.json$/.test(file))
  );
}

function findingsIn(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => {
      const text = readablePart(file, line);
      return words
        .filter(
          ({ pattern }) => pattern.test(text) && !exceptions.some((one) => one.file.test(file) && one.text.test(text)),
        )
        .map(({ pattern, instead }) => `${file}:${index + 1}: "${pattern.exec(text)![0]}"; write ${instead}`);
    });
}

/** Returns the part of a line that is ours to word: comments of protos, and the new text of a changed message. */
function readablePart(file: string, line: string): string {
  if (file.endsWith(".proto")) return /\/\/.*/.exec(line)?.[0] ?? "";
  return file === "docs/reference/errors-0.2.md" ? line.slice(line.indexOf("→") + 1) : line;
}
