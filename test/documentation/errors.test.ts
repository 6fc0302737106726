// Compares docs/reference/errors.md with the errors that the code can make.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { InactivityReasonSchema } from "../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { ApiError, Code, codeName } from "../../src/aip/errors.ts";
import { statusOf } from "../../src/transport/rest/rest-response.ts";

const page = readFileSync("docs/reference/errors.md", "utf8");

/** Returns the first cells of the table rows below a heading or sentence, without their backquotes. */
function firstCells(title: string): string[] {
  const [, below = ""] = page.split(title);
  const [table = ""] = below
    .trimStart()
    .split("\n\n")
    .filter((text) => text.startsWith("|"));
  return [...table.matchAll(/^\| `?([^|`]+)`? \|/gm)].slice(1).map(([, cell]) => cell!.trim());
}

describe("docs/reference/errors.md", () => {
  it("docs/reference/errors.md has the code and the HTTP status of every error that the server returns", () => {
    const rows = [...page.matchAll(/^\| (\d+) `([A-Z_]+)` \| (\d+) \|/gm)];
    const codes = rows.map(([, number, name]) => [Number(number), name]);
    assert.deepEqual(
      codes,
      codes.map(([number]) => [number, codeName(number as Code)]),
    );
    for (const [, number, , status] of rows)
      assert.equal(Number(status), statusOf(new ApiError(Number(number) as Code, "")), `status of code ${number}`);
    const unused = ["OK", "UNKNOWN", "OUT_OF_RANGE", "DATA_LOSS"];
    const used = Object.keys(Code).filter((name) => /^[A-Z]/.test(name) && !unused.includes(name));
    assert.deepEqual(codes.map(([, name]) => name).sort(), used.sort());
  });

  it("docs/reference/errors.md has the violation types of every failed precondition", () => {
    const sources = globSync("src/**/*.ts").map((file) => readFileSync(file, "utf8"));
    const types = sources.flatMap((text) => [
      ...[...text.matchAll(/\bfailedPreconditions?\(\s*"([A-Z_]+)"/g)].map(([, type]) => type!),
      // A constant of the file.
      ...[...text.matchAll(/\bfailedPrecondition\(\s*(\w+),/g)].flatMap(
        ([, name]) => new RegExp(`const ${name} = "([A-Z_]+)"`).exec(text)?.[1] ?? [],
      ),
    ]);
    assert.deepEqual(firstCells("## Violations"), [...new Set(types)].sort());
  });

  it("docs/reference/errors.md has every cause of an inactive delegation", () => {
    const [, ...reasons] = InactivityReasonSchema.values.map(({ localName }) => localName);
    const [table = ""] = page.split("| `cause` of")[1]!.split("\n\n");
    assert.deepEqual(
      [...table.matchAll(/^\| `(\w+)`/gm)].map(([, cause]) => cause),
      reasons,
    );
  });
});
