// Vectors of CVSS: which are valid, and their base scores.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { highestScore, noScore, parseCvss } from "../../src/advisories/cvss.ts";

const base2 = "AV:N/AC:L/Au:N/C:P/I:P/A:P";
const base3 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const base4 = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N";

describe("CVSS", () => {
  const valid: readonly (readonly [vector: string, version: string, score: number, severity: string])[] = [
    [base2, "2.0", 7.5, "HIGH"],
    [`${base2}/E:POC/RL:OF/RC:C`, "2.0", 7.5, "HIGH"],
    [base3, "3.1", 9.8, "CRITICAL"],
    [base3.replace("3.1", "3.0"), "3.0", 9.8, "CRITICAL"],
    [`${base3}/E:U/MA:N`, "3.1", 9.8, "CRITICAL"],
    ["CVSS:3.1/AC:H/AV:P/PR:H/UI:R/S:U/C:L/I:N/A:N", "3.1", 1.6, "LOW"],
    ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", "3.1", 0, "NONE"],
    [base4, "4.0", 9.3, "CRITICAL"],
    [`${base4}/E:U/MAV:P/MSI:S/S:P/AU:Y/R:U/V:C/RE:M/U:Amber`, "4.0", 9.3, "CRITICAL"],
    ["CVSS:4.0/AV:L/AC:H/AT:N/PR:N/UI:A/VC:N/VI:N/VA:L/SC:N/SI:N/SA:N", "4.0", 1.8, "LOW"],
  ];
  for (const [text, version, score, severity] of valid) {
    it(text, () => {
      const { type, ...found } = parseCvss(text)!;
      assert.deepEqual(found, { version, vector: text, baseScore: score, baseSeverity: severity });
      assert.equal(type, `CVSS_V${version[0]}`);
    });
  }

  it("the metrics of CVSS 4.0 are put into their order, also those without a value", () => {
    const mixed = base4.replace("AV:N/AC:L", "AC:L/AV:N");
    assert.equal(parseCvss(`${mixed}/U:Red/E:X/MAC:H/CR:H`)?.vector, `${base4}/E:X/CR:H/MAC:H/U:Red`);
  });

  it("other vectors are invalid", () => {
    const wrong = [
      "",
      "high",
      "CVSS:3.1",
      "CVSS:5.0/AV:N",
      "9.8",
      `(${base2})`,
      ` ${base3}`,
      `${base3}/`,
      `${base3}\n`,
    ];
    const values = [
      base3.replace("A:H", "A:Q"),
      base3.replace("/A:H", ""),
      base3.replace("A:H", "A:X"),
      `${base3}/A:H`,
    ];
    const names = [`${base3}/AV:L`, `${base3}/Q:H`, base3.replace("AV:N", "AV:N:N"), base3.replace("AV", "av")];
    const others = [`CVSS:2.0/${base2}`, base2.replace("A:P", "A:ND"), base3.replace("3.1", "4.0"), `${base4}/E:H`];
    for (const text of [...wrong, ...values, ...names, ...others, `${base3}/constructor:H`, `${base2}/RL:X`])
      assert.equal(parseCvss(text), undefined, text);
  });

  const highest: readonly (readonly [rule: string, vectors: readonly string[], score: number])[] = [
    ["without a valid vector there is no score", ["", "high", "9.8"], noScore],
    ["a score of zero is a score", ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"], 0],
    ["the highest of CVSS 3 and 4 counts", [base4, base3, base3.replace("A:H", "A:N")], 98],
    ["CVSS 2 counts without another vector", [base2, "unknown"], 75],
    ["CVSS 2 does not count if another vector is valid", [base2, "CVSS:3.1/AC:H/AV:P/PR:H/UI:R/S:U/C:L/I:N/A:N"], 16],
  ];
  for (const [rule, vectors, score] of highest)
    it(`the score of several vectors: ${rule}`, () => assert.equal(highestScore(vectors), score));
});
