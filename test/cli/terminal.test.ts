// Tests of tables on a terminal, compared with those in a pipe.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ageText } from "../../src/cli/output/terminal.ts";
import { type Caller, startCaller } from "./caller.ts";
import { noTerminal, runOnTerminal } from "./on-terminal.ts";

describe("an age", () => {
  const [minute, hour, day] = [60, 3600, 86_400];
  const cases: [number, string][] = [
    [0, "0s"],
    [59, "59s"],
    [minute, "1m"],
    [hour - 1, "59m"],
    [23 * hour, "23h"],
    [day, "1d"],
    [729 * day, "729d"],
    [730 * day, "2y"],
    // The clock of the server may be ahead.
    [-5, "0s"],
    [Number.NaN, ""],
  ];
  for (const [seconds, text] of cases)
    it(`an age of ${seconds} s is shown as ${JSON.stringify(text)}`, () => assert.equal(ageText(seconds * 1000), text));
});

describe("a table", { skip: noTerminal }, () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller[Symbol.asyncDispose]());

  /** Runs a command with a terminal as its output. */
  const onTerminal = async (args: readonly string[], variables: Record<string, string> = {}) =>
    (await runOnTerminal(caller, args, { variables })).shown;

  const list = ["iam", "groups", "list"];
  const [bold, normal] = ["\u001b[1m", "\u001b[22m"];

  it("has bold titles and the age", async () => {
    const [titles = "", row] = (await onTerminal(list)).split("\n");
    assert.ok(titles.startsWith(`${bold}NAME`) && titles.endsWith(`AGE${normal}`), titles);
    assert.match(row!, /^example\.org .* \d+[smhd]$/);
  });
  it("has no styles with NO_COLOR", async () => {
    assert.match(await onTerminal(list, { NO_COLOR: "1" }), /^NAME .* AGE\n/);
  });
  it("has no titles without headers", async () => {
    assert.match(await onTerminal([...list, "--no-headers"]), /^example\.org /);
  });
  it("has the time of creation in the wide format", async () => {
    assert.match(await onTerminal([...list, "-o", "wide"], { NO_COLOR: "1" }), /CREATED +UPDATED\n/);
  });
  it("a table in a pipe has neither styles nor ages", async () => {
    assert.match((await caller.run(...list)).stdout, /^NAME +UID +DESCRIPTION\n/);
  });
});
