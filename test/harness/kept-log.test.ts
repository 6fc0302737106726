import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { basic } from "../registry/sign-in.ts";
import { keptLog } from "./kept-log.ts";

const secret = "canary-3f1b?~";

describe("a kept log", () => {
  const told: Readonly<Record<string, string>> = {
    "as it is": `the secret ${secret}.`,
    ...Object.fromEntries(
      ["", "a", "ab", "abc", "gatehouse"].map((name) => [
        `in Basic credentials of ${name || "nobody"}`,
        JSON.stringify(basic(name, secret)),
      ]),
    ),
    "in credentials that go on": JSON.stringify(basic("a", `${secret}more`)),
  };
  for (const [how, line] of Object.entries(told)) {
    it(`tells of a secret ${how}`, () => {
      const log = keptLog();
      log.stream.write(`${line}\n`);
      assert.throws(() => log.assertNone("another", secret), /the log has canary/);
    });
  }

  it("tells when there is no log to look at", () => {
    assert.throws(() => keptLog().assertNone(secret), /nothing was logged/);
  });

  it("has its lines, and nothing to tell of other secrets", () => {
    const log = keptLog();
    log.stream.write(`one\n${JSON.stringify(basic("a", "canary-3f1c"))}\n`);
    assert.deepEqual([log.lines().length, log.lines()[0]], [2, "one"]);
    log.assertNone(secret, "another");
  });
});
