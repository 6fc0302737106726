import assert from "node:assert/strict";
import { it } from "node:test";
import { choose, type Scenario } from "../scenario.ts";

const server = { pid: 0, port: 0, [Symbol.asyncDispose]: async () => {} };
const load = () => Promise.reject(new Error("nothing loads a server here"));
const scenario = (name: string, baseline?: string, isOnlyInFullRuns = false): Scenario => ({
  name,
  server,
  comparison: "reads",
  isOnlyInFullRuns,
  load,
  ...(baseline !== undefined && { baseline }),
});

const all = [
  scenario("raw"),
  scenario("raw two"),
  scenario("connect", "raw two", true),
  scenario("get", "raw"),
  scenario("list", "connect"),
  scenario("create", "raw", true),
];

for (const [title, options, wanted] of [
  ["a full run has everything", { only: [], isQuick: false }, "raw, raw two, connect, get, list, create"],
  [
    "a quick run leaves out what is for full runs, unless it is a baseline",
    { only: [], isQuick: true },
    "raw, raw two, connect, get, list",
  ],
  [
    "--only keeps what it names, with baselines of baselines",
    { only: ["list"], isQuick: false },
    "raw two, connect, list",
  ],
  ["--only decides in a quick run too", { only: ["create"], isQuick: true }, "raw, create"],
] as const) {
  it(title, () =>
    assert.equal(
      choose(all, options)
        .map(({ name }) => name)
        .join(", "),
      wanted,
    ),
  );
}
