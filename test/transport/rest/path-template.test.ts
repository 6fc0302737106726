import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PathTemplateError, parsePathTemplate } from "../../../src/transport/rest/path-template.ts";

describe("parsePathTemplate", () => {
  const valid: [template: string, segments: string[], variables: [string, number, number][], verb: string][] = [
    ["/a", ["a"], [], ""],
    ["/a/b.c~d-e_f", ["a", "b.c~d-e_f"], [], ""],
    ["/a/*", ["a", "*"], [], ""],
    ["/a/**", ["a", "**"], [], ""],
    ["/a/{x}", ["a", "*"], [["x", 1, 2]], ""],
    ["/a/{x=*}", ["a", "*"], [["x", 1, 2]], ""],
    ["/a/{x=**}", ["a", "**"], [["x", 1, 2]], ""],
    ["/a/{x.y_z=**}", ["a", "**"], [["x.y_z", 1, 2]], ""],
    ["/a/{x=b/*/c/**}", ["a", "b", "*", "c", "**"], [["x", 1, 5]], ""],
    [
      "/a/{x=**}/b/{y}/c",
      ["a", "**", "b", "*", "c"],
      [
        ["x", 1, 2],
        ["y", 3, 4],
      ],
      "",
    ],
    ["/a:verb", ["a"], [], "verb"],
    ["/a/{x=**}:verb", ["a", "**"], [["x", 1, 2]], "verb"],
  ];
  for (const [template, segments, variables, verb] of valid) {
    it(`parses ${template}`, () => {
      assert.deepEqual(parsePathTemplate(template), {
        text: template,
        segments,
        variables: variables.map(([path, start, end]) => ({ path, start, end })),
        verb,
      });
    });
  }

  const invalid: [template: string, column: number, problem: RegExp][] = [
    ["", 1, /expected "\/"/],
    ["a", 1, /expected "\/"/], // a template begins with a slash
    ["/", 2, /expected a segment/], // and has a segment
    ["/a/", 4, /expected a segment/], // no trailing slash
    ["/a//b", 4, /expected a segment/], // no empty segment
    ["/a b", 3, /unexpected " "/],
    ["/a?x", 3, /unexpected "\?"/],
    ["/a%2Fb", 3, /unexpected "%"/], // literals are written as they are, not escaped
    ["/a/***", 6, /unexpected "\*"/],
    ["/**/**", 5, /\*\* may appear only once/],
    ["/{x=**}/{y=**}", 12, /\*\* may appear only once/],
    ["/{", 3, /expected a field name/],
    ["/{}", 3, /expected a field name/],
    ["/{1}", 3, /expected a field name/], // an identifier does not begin with a digit
    ["/{x.}", 5, /expected a field name/],
    ["/{x", 4, /expected "}"/],
    ["/{x=}", 5, /expected a segment/],
    ["/{x={y}}", 5, /variables do not nest/],
    ["/{x}/{x}", 7, /the variable x appears twice/],
    ["/a/x}", 5, /unexpected "}"/],
    ["/a:", 4, /expected a verb/],
    ["/a:b/c", 5, /unexpected "\/"/], // a verb is the end
    ["/a:b:c", 5, /unexpected ":"/],
  ];
  for (const [template, column, problem] of invalid) {
    it(`rejects ${JSON.stringify(template)} at column ${column}`, () => {
      assert.throws(
        () => parsePathTemplate(template),
        (error) => {
          assert.ok(error instanceof PathTemplateError);
          assert.equal(error.column, column);
          assert.match(error.message, problem);
          return true;
        },
      );
    });
  }
});
