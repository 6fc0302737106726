// Errors in the console have a text in each language. docs/reference/errors.md lists them, and a test compares it with the code.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fieldRules } from "../../console/src/api/field-rules.ts";
import { texts as german } from "../../console/src/texts/de/errors.ts";
import { texts as english } from "../../console/src/texts/en/errors.ts";
import { nameRule, uidRule } from "../../src/pipeline/text-rules.ts";

const page = readFileSync("docs/reference/errors.md", "utf8");
/** Codes without a text: the server does not send them, and such an error keeps its message. */
const fallback = ["OK", "UNKNOWN", "OUT_OF_RANGE", "DATA_LOSS"];

/** Returns the names in the first cells of the table behind a text. */
function namesBehind(text: string): string[] {
  const [table = ""] = page
    .split(text)[1]!
    .split("\n\n")
    .filter((part) => part.includes("|---"));
  return [...table.matchAll(/^\| (?:\d+ )?`([A-Z_]+)`/gm)].map(([, name]) => name!);
}

describe("the errors in the console", () => {
  it("each code, reason and violation that the server sends has a text, and no other has", () => {
    const codes = [...page.matchAll(/^\| \d+ `([A-Z_]+)` \|/gm)].map(([, name]) => name!);
    const sent = new Set([...codes, ...namesBehind("except for:"), ...namesBehind("types of `PreconditionFailure`:")]);
    assert.ok(sent.size > 40);
    const named = Object.keys(english).flatMap((id) => /^error\.(.+)$/.exec(id)?.[1] ?? []);
    assert.deepEqual(named.sort(), [...sent].filter((name) => !fallback.includes(name)).sort());
  });

  it("German has other words than English for each error and rule", () => {
    for (const [id, text] of Object.entries(english)) assert.notEqual(german[id as keyof typeof german], text, id);
  });

  it("the server's words for a rule have a text", () => {
    const textOf = (words: string) => fieldRules.find(([pattern]) => pattern.test(words))?.[1];
    assert.equal(textOf(nameRule.description), "rule.name");
    assert.equal(textOf(uidRule.description), "rule.uid");
    for (const [, id] of fieldRules) {
      if (id === "rule.name") continue;
      const words = english[id as keyof typeof english].replaceAll("{value}", "12");
      assert.equal(textOf(words), id);
    }
  });
});
