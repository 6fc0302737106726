import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCase, readCases } from "./case.ts";

const step = { rule: "a rule", as: "owner", method: "iam.v2beta1.GroupsService/GetGroup", request: {} };
const parse = (content: unknown) => parseCase("iam/example.json", JSON.stringify(content));

describe("a file of an API case", () => {
  it("a case is named by its path below the folder of the cases", () => {
    assert.equal(parse({ title: "a title", steps: [step] }).name, "iam/example");
    assert.ok(readCases().length > 0);
  });

  for (const [fault, content, path] of [
    ["a misspelt key of a step", { title: "t", steps: [step, { ...step, exepct: {} }] }, "/steps/1/exepct"],
    ["a misspelt key of an expectation", { title: "t", steps: [{ ...step, expect: { cod: "OK" } }] }, "/expect/cod"],
    ["a misspelt key of the case", { titel: "t", title: "t", steps: [step] }, "/titel"],
    ["a code that is not text", { title: "t", steps: [{ ...step, expect: { code: 3 } }] }, "/steps/0/expect/code"],
  ] as const)
    it(`is rejected with its name and the path of ${fault}`, () => {
      const named = ({ message }: Error) =>
        message.startsWith("test/api/cases/iam/example.json: ") && message.includes(path);
      assert.throws(() => parse(content), named);
    });
});
