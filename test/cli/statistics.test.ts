// Tests the command that shows statistics.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addDailyCounts } from "../../src/storage/statistics/daily-counts.ts";
import { addCaller, arrange, viewerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";

const dayMs = 24 * 60 * 60 * 1000;
const metrics = ["--metrics", "exchanges,denials"];
let caller: Caller;
let today: number;
let weekday: number;

const text = (before: number) => new Date(today - before * dayMs).toISOString().slice(0, 10);
const list = (...args: string[]) => caller.run("statistics", "list", ...args);

describe("gatehouse statistics list", () => {
  before(async () => {
    caller = await startCaller();
    const { groupUid, clock } = caller.server;
    today = Math.floor(clock() / dayMs) * dayMs;
    weekday = (new Date(today).getUTCDay() + 6) % 7;
    const counts = [0, 1, 8].map((before) => ({
      groupUid,
      metric: "exchanges",
      day: today - before * dayMs,
      count: 10 + before,
    }));
    await arrange(caller.server, (tx) => addDailyCounts(tx, counts));
  });
  after(() => caller[Symbol.asyncDispose]());

  it("shows a line for each day, of the only organization if none is named, and says since when it counts", async () => {
    const { code, stdout, stderr } = await list(...metrics, "--since", "yesterday");
    assert.equal(code, 0, stderr);
    const [title, first, last] = stdout.trimEnd().split("\n");
    assert.match(title!, /^DAY +EXCHANGES +DENIALS$/);
    assert.match(first!, new RegExp(`^${text(1)} +11 +0$`));
    assert.match(last!, new RegExp(`^${text(0)} +10 +0$`));
    assert.match(stderr, new RegExp(`Nothing was counted before ${text(0)}\\.`));
  });

  it("adds up weeks, and prints numbers as JSON", async () => {
    const { items } = await caller.json("statistics", "list", ...metrics, "--since", "8d", "--step", "week");
    const inWeek = [0, 1, 8].filter((before) => before <= weekday).reduce((sum, before) => sum + 10 + before, 0);
    assert.deepEqual(items.at(-1), { day: text(weekday), exchanges: inWeek, denials: 0 });
    assert.equal(
      items.reduce((sum: number, { exchanges }: { exchanges: number }) => sum + exchanges, 0),
      39,
    );
  });

  it("names the capability that a metric needs", async () => {
    const viewer = await addCaller(caller.server, caller.server.groupUid, viewerRole.uid);
    const environment = { GATEHOUSE_TOKEN: viewer.token };
    const args = ["statistics", "list", "--metrics", "changes,deliveries"];
    const { code, stdout, stderr } = await caller.runWith(environment, ...args);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /changes needs subscriptions\.create at the group\./);
    assert.doesNotMatch(stdout, /CHANGES/);
  });

  it("names the problem of a wrong request", async () => {
    const cases: readonly (readonly [args: readonly string[], code: number, said: RegExp])[] = [
      [["--step", "month"], 2, /Allowed choices are day, week/],
      [["--since", "last week"], 2, /"last week" is not a time/],
      [["--metrics", "denails"], 1, /metrics\[0\]: "denails" is not one of .*did you mean denials\?/],
      [["--since", "500d"], 1, /start_day: must be at most 399 days before end_day/],
    ];
    for (const [args, code, said] of cases) {
      const finished = await list(...args);
      assert.equal(finished.code, code, finished.stderr);
      assert.match(finished.stderr, said);
    }
  });
});
