import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { haveWords, laterWordsOf, personWordsOf, queryWords, wordsOf } from "../../../src/storage/names/words.ts";

describe("the words of names", () => {
  const names: readonly [rule: string, name: string, words: readonly string[]][] = [
    ["are separated by anything but letters and digits", "acme-prod.eu v2", ["acme", "prod", "eu", "v2"]],
    ["are in lower case and without accents", "Ana LÓPEZ Müller", ["ana", "lopez", "muller"]],
    ["occur once each", "api api-api", ["api"]],
    ["are eight at most", "a b c d e f g h i j", ["a", "b", "c", "d", "e", "f", "g", "h"]],
    ["have 64 characters at most", "x".repeat(70), ["x".repeat(64)]],
    ["may be of any script", "東京 данные", ["東京", "данные"]],
    ["are missing in a name of signs", " ._-", []],
  ];
  for (const [rule, name, words] of names) it(`words ${rule}`, () => assert.deepEqual(wordsOf(name), words));

  it("the word at the beginning of a name is left to the index rows of lists", () => {
    assert.deepEqual(laterWordsOf("acme-prod"), ["prod"]);
    assert.deepEqual(laterWordsOf(".acme"), ["acme"]);
    assert.deepEqual(laterWordsOf(""), []);
  });

  it("a person has the words of name and address, and the whole address", () => {
    const words = personWordsOf({ name: "Ana López", email: "Ana.L@Example.org" });
    assert.deepEqual(words, ["ana", "lopez", "ana.l@example.org", "l", "example", "org"]);
    assert.deepEqual(personWordsOf({ name: "ana", email: "" }), ["ana"]);
  });
});

describe("the words of queries", () => {
  const queries: readonly [rule: string, query: string, words: readonly string[]][] = [
    ["an address is one word", "ana@example.org lopez", ["ana@example.org", "lopez"]],
    ["the beginning of an address is one word", "ana@", ["ana@"]],
    ["a domain has the words of a name", "@example.org", ["example", "org"]],
    ["a word that begins another one says nothing more", "lop lopez lo", ["lopez"]],
    ["a query of signs has no words", "--- .", []],
  ];
  for (const [rule, query, words] of queries) it(rule, () => assert.deepEqual(queryWords(query), words));

  it("each word must begin a word of the name", () => {
    assert.equal(haveWords(["acme", "prod"], ["pro", "ac"]), true);
    assert.equal(haveWords(["acme", "prod"], ["pro", "x"]), false);
    assert.equal(haveWords(["acme"], ["cme"]), false);
  });
});
