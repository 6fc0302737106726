// Tests of the messages for failed system calls.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { errorMessage, hasCode } from "../../src/base/system-error.ts";

let folder = "";

function errorOf(call: () => void): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail("it did not fail");
}

describe("errorMessage", () => {
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-system-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("leaves out the file that the message names elsewhere", () => {
    const file = path.join(folder, "it's, open 'missing'\n");
    const error = errorOf(() => readFileSync(file));
    assert.equal(errorMessage(error, file), "ENOENT: no such file or directory");
    assert.ok(hasCode(error, "ENOENT") && !hasCode(error, "EACCES"));
  });

  it("keeps the name of another file", () => {
    const file = path.join(folder, "missing", "file");
    assert.ok(
      errorMessage(
        errorOf(() => readFileSync(file)),
        path.dirname(file),
      ).endsWith(`, open '${file}'`),
    );
  });

  it("keeps the rest of the message", () => {
    assert.deepEqual([errorMessage(new Error("bad, open 'x'"), "x"), errorMessage("odd")], ["bad, open 'x'", "odd"]);
  });
});
