// Files for spreadsheets: quotes as in RFC 4180, and no formulas.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csvLine } from "../../console/src/shell/csv.ts";

describe("a line of a CSV file", () => {
  it("a cell that a spreadsheet would run as a formula begins with an apostrophe", () => {
    for (const sign of ["=", "+", "-", "@"])
      assert.equal(csvLine([`${sign}cmd|' /C calc'!A0`]), `'${sign}cmd|' /C calc'!A0\r\n`);
    assert.equal(csvLine(["\t=1"]), "'\t=1\r\n");
    assert.equal(csvLine(["\r=1"]), '"\'\r=1"\r\n');
  });

  it("a cell with a comma, a quote or a line break is quoted, and others are not", () => {
    assert.equal(csvLine(["a", "b,c", 'd"e', "f\ng", ""]), 'a,"b,c","d""e","f\ng",\r\n');
  });
});
