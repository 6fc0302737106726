// The languages of the console have the same texts, with the same values in them.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { type CompiledMessage, compileMessageOrThrow } from "@lingui/message-utils/compileMessage";

const folder = new URL("../../console/src/texts/", import.meta.url);
const catalogues = readdirSync(new URL("en/", folder));

async function textsOf(language: string, catalogue: string): Promise<Readonly<Record<string, string>>> {
  return (await import(new URL(`${language}/${catalogue}`, folder).href)).texts;
}

/** Returns the names of the values in an ICU message. */
function valuesOf(message: string): string[] {
  return [...new Set(namesIn(compileMessageOrThrow(message)))].sort();
}

/** Returns the names in a compiled message: a text, or a list of texts and of values, each `[name, kind, cases]`. */
function namesIn(message: CompiledMessage): string[] {
  if (typeof message === "string") return [];
  return message.flatMap((part) => {
    if (typeof part === "string") return [];
    const [name, , cases] = part;
    const texts = typeof cases === "object" && cases !== null ? Object.values(cases) : [];
    return [name, ...texts.flatMap((text) => (Array.isArray(text) ? namesIn(text as CompiledMessage) : []))];
  });
}

describe("the texts of the console", () => {
  it("have a file for each view in each language", () => {
    assert.deepEqual(readdirSync(new URL("de/", folder)), catalogues);
  });

  for (const catalogue of catalogues)
    it(`${catalogue}: German has the ids and values of English`, async () => {
      const [en, de] = [await textsOf("en", catalogue), await textsOf("de", catalogue)];
      assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
      for (const [id, message] of Object.entries(en)) {
        assert.deepEqual(valuesOf(de[id]!), valuesOf(message), id);
        assert.notEqual(de[id], "", id);
      }
    });

  it("have each id once", async () => {
    const ids = (await Promise.all(catalogues.map((name) => textsOf("en", name)))).flatMap(Object.keys);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });
});
