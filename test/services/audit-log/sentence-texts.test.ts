// Every sentence about a change has its text in English and German.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { de } from "../../../packages/client/src/sentences/de.ts";
import { en } from "../../../packages/client/src/sentences/en.ts";
import { piecesOf } from "../../../packages/client/src/sentences/format.ts";
import { resourceForm } from "../../../src/resource/sentence-form.ts";
import { rowViews } from "../../../src/services/audit-log/row-views.ts";
import { formOf, otherKind } from "../../../src/services/audit-log/sentences.ts";

/** The parts of each sentence, by its key. */
const sentences = new Map<string, readonly string[]>([
  ...[...rowViews.keys()].flatMap((kind) => {
    const { verbs, parts } = formOf(kind)!;
    return verbs.map((verb) => [`${kind}.${verb}`, Object.keys(parts)] as const);
  }),
  ...resourceForm.verbs.map((verb) => [`${otherKind}.${verb}`, ["kind"]] as const),
]);

/** Texts of the client for several sentences in one. */
const folded = ["sign_ins.several", "token_exchanges.several"];

/** Returns the names in a text, for one change and for many. */
function namesIn(text: string, language: string): string[] {
  return [1, 40].flatMap((count) =>
    piecesOf(text, { count, more: count - 1 }, language).flatMap((piece) =>
      typeof piece === "string" ? [] : piece.name,
    ),
  );
}

for (const [language, texts] of Object.entries({ en, de })) {
  describe(`the sentences about changes (${language})`, () => {
    it(`sentences (${language}) have a text for each kind and verb, and none for others`, () => {
      const keys = Object.keys(texts).filter((key) => !key.startsWith("name.") && !folded.includes(key));
      assert.deepEqual(keys.sort(), [...sentences.keys()].sort());
    });

    it("name parts that the server sends", () => {
      for (const [key, parts] of sentences) {
        const known = new Set([...parts, "actor", "resource", "group"]);
        const unknown = namesIn(texts[key as keyof typeof en], language).filter((name) => !known.has(name));
        assert.deepEqual(unknown, [], key);
      }
    });

    it("are formatted for one change and for many", () => {
      for (const [key, text] of Object.entries(texts))
        for (const count of [1, 40]) {
          const pieces = piecesOf(text, { count, more: count - 1 }, language);
          const shown = pieces.map((piece) => (typeof piece === "string" ? piece : "Ada")).join("");
          assert.match(shown, /\S/, key);
          assert.doesNotMatch(shown, /[{}#]| {2}|^ | $/, `${key}: ${shown}`);
          if (count > 1 && text.includes("plural")) assert.match(shown, /40|39/, `${key}: ${shown}`);
        }
    });
  });
}
