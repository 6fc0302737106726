// Commands that were called without what precedes them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runInTurn } from "./resident.ts";

const cases: readonly (readonly [args: string, suggested: RegExp])[] = [
  ["groups list", /Did you mean `gatehouse iam groups list`\?/],
  ["group list -o json", /Did you mean `gatehouse iam groups list`\?/],
  ["identity describe x", /Did you mean `gatehouse iam identities describe`\?/],
  ["role_bindings list", /Did you mean `gatehouse iam role-bindings list`\?/],
  ["iam repos list", /Did you mean `gatehouse images repos list`\?/],
  ["who-can example.org", /Did you mean `gatehouse iam access who-can`\?/],
  ["iam serve", /Did you mean `gatehouse serve`\?/],
  ["auth db backup", /Did you mean `gatehouse db backup`\?/],
  ["config migrate", /Did you mean `gatehouse db migrate`\?/],
  ["events key rotate", /Did you mean `gatehouse keys rotate`\?/],
  ["db groups list", /Did you mean `gatehouse iam groups list`\?/],
];

describe("a command without what precedes it", () => {
  for (const [args, suggested] of cases)
    it(`gatehouse ${args} suggests the whole command`, async () => {
      const { code, stderr } = await runInTurn(args.split(" "));
      assert.match(stderr, suggested);
      assert.equal(code, 2);
    });
});
