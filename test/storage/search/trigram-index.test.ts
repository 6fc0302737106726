// The index of texts finds what trying every text would find.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { buildTextIndex } from "../../../src/storage/search/trigram-index.ts";

const never = new AbortController().signal;

/** Few units, so that parts of one text are in others; `t` and `-`, `1` and the line feed's neighbours share classes. */
const units = [..."ab1-t ~%_\\", "T", "é", "界", "😀", "\u{1f601}", "ß"];
const lines = fc.array(fc.constantFrom(...units), { maxLength: 9 }).map((parts) => parts.join(""));
const texts = fc.array(lines, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("\n"));
const wanted = fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
const uid = fc.nat({ max: 120 }).map((number) => `g/${String(number).padStart(3, "0")}`);

describe("the index of texts", () => {
  it("finds what contains a text, also after texts came, changed and went", async () => {
    const property = fc.asyncProperty(
      fc.array(texts, { maxLength: 100 }),
      fc.array(fc.record({ uid, text: fc.option(texts, { nil: undefined }) }), { maxLength: 30 }),
      fc.array(wanted, { minLength: 1, maxLength: 20 }),
      fc.nat({ max: 60 }),
      async (all, edits, questions, maxUids) => {
        const model = new Map(all.map((text, i) => [`g/${String(i).padStart(3, "0")}`, text]));
        const index = await buildTextIndex(
          [...model].map(([of, text]) => ({ uid: of, text })),
          never,
        );
        const ask = () => {
          for (const question of questions) {
            const uids = [...model].filter(([, text]) => text.includes(question)).map(([of]) => of);
            const expected =
              uids.length <= maxUids ? { count: uids.length, uids: uids.sort() } : { count: uids.length };
            assert.deepEqual(index.find(question, maxUids), expected, question);
          }
        };
        ask();
        for (const { uid: of, text } of edits) {
          index.set(of, text);
          if (text === undefined) model.delete(of);
          else model.set(of, text);
        }
        ask();
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  it("finds one unit and two where they are in nearly every line, and where they are rare", async () => {
    const all = Array.from({ length: 5000 }, (_, i) => ({
      uid: `g/${String(i).padStart(4, "0")}`,
      text: `a-a-${i}\n${i % 50 === 0 ? "zq" : "aa"}`,
    }));
    const index = await buildTextIndex(all, never);
    for (const text of ["a", "a-", "-", "z", "zq", "q", "9", "99", "x", "xx", "a-a"])
      assert.equal(index.find(text, 0).count, all.filter((each) => each.text.includes(text)).length, text);
  });

  it("is built in turns, and not to its end once it is told to stop", async () => {
    const stop = new AbortController();
    const building = buildTextIndex([{ uid: "g/0", text: "a" }], stop.signal);
    stop.abort();
    await assert.rejects(building, { name: "AbortError" });
  });
});
