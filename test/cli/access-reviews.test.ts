// `gatehouse iam access-reviews`: reviews of role bindings.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { type Caller, startCaller } from "./caller.ts";

describe("gatehouse iam access-reviews", () => {
  let caller: Caller;
  /** The uids of two identities with a role binding at the folder `team`, and of the review of the folder. */
  const uids: Record<string, string> = {};
  before(async () => {
    caller = await startCaller();
    await caller.json("iam", "folders", "create", "team", "--parent", "example.org");
    for (const name of ["ci", "nightly"]) {
      const identity = ["--parent", "example.org/team", "--role", "viewer", "--subject", name];
      const issuer = ["--identity-issuer", "https://issuer.example.org"];
      await caller.json("iam", "identities", "create", name, ...identity, ...issuer);
      const { items } = await caller.json("iam", "role-bindings", "list", "--identity", name);
      uids[name] = items[0].uid;
    }
    const review = ["Quarter 4", "--parent", "example.org/team", "--due", "14d", "--holders", "workloads"];
    uids.review = (await caller.json("iam", "access-reviews", "create", ...review)).uid;
  });
  after(() => caller[Symbol.asyncDispose]());

  const reviews = async (...args: string[]) => {
    const { code, stdout, stderr } = await caller.run("iam", "access-reviews", ...args);
    assert.equal(code, 0, stderr);
    return { stdout, stderr };
  };

  it("lists reviews with how much of them is decided", async () => {
    const { stdout } = await reviews("list", "--parent", "example.org", "--state", "open");
    assert.match(stdout, /^TITLE +AT +STATE +DUE +ON DUE +DECIDED +UID\n/);
    assert.match(stdout, /^Quarter 4 +team +open +\S+ +report only +0\/2 +[0-9a-f/]+$/m);
    assert.match((await reviews("get", uids.review!)).stdout, /^Quarter 4 /m);
  });

  it("lists items with their last use and decisions", async () => {
    const { stdout } = await reviews("items", uids.review!, "--decision", "pending");
    assert.match(stdout, /^WHO +ROLE +AT +LAST USED +USED +DECISION +BINDING\n/);
    assert.match(stdout, /^ci +viewer +team +never +0\/\d+ +pending +[0-9a-f/]+$/m);
  });

  it("confirms and revokes role bindings", async () => {
    const comment = "=HYPERLINK('https://attacker.example')";
    const { stdout } = await reviews("decide", uids.review!, uids.ci!, "--confirm", "--comment", comment);
    assert.match(stdout, /^ci .* confirmed /m);
    const unasked = await caller.run("iam", "access-reviews", "decide", uids.review!, uids.nightly!, "--revoke");
    assert.equal(unasked.code, 2, unasked.stderr);
    assert.match(
      (await reviews("decide", uids.review!, uids.nightly!, "--revoke", "--yes")).stdout,
      /^nightly .* revoked /m,
    );
    const { items } = await caller.json("iam", "role-bindings", "list", "--parent", "example.org/team");
    assert.deepEqual(
      items.map(({ uid }: { uid: string }) => uid),
      [uids.ci],
    );
  });

  it("exports what the API lists, as CSV that no spreadsheet runs and as lines of JSON", async () => {
    const { server } = caller;
    const reply = await rest(server.url, server.ownerToken, "GET", `/access/v1/reviews/${uids.review}:items`);
    // The command line writes whole seconds without a fraction.
    const body = JSON.parse(JSON.stringify(reply.body).replaceAll(".000Z", "Z"));
    const lines = (await reviews("export", uids.review!, "-o", "ndjson")).stdout.trimEnd().split("\n");
    assert.deepEqual(
      // The command line leaves out 0.
      lines.map((line) => ({ usedCapabilityCount: 0, delegationCount: 0, ...JSON.parse(line) })),
      body.items,
    );
    const rows = rowsOf((await reviews("export", uids.review!)).stdout);
    assert.deepEqual(
      rows.map((row) => withoutEmpty(row)),
      body.items.map((item: Record<string, unknown>) => withoutEmpty(csvRow(item))),
    );
    assert.match(rows.map(({ comment }) => comment).join(""), /^'=HYPERLINK/);
  });

  it("closes a review", async () => {
    const { stdout } = await reviews("close", uids.review!, "--yes");
    assert.match(stdout, /^Quarter 4 +team +clos(ing|ed) /m);
  });
});

/** Returns the rows of CSV without cells in quotes. */
function rowsOf(csv: string): Record<string, string>[] {
  const [titles, ...rows] = csv
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
  return rows.map((cells) => Object.fromEntries(cells.map((cell, i) => [titles![i]!, cell])));
}

const counts = ["used_capability_count", "capability_count", "delegation_count"];

/** Returns an item of the API as a row of the CSV has it. */
function csvRow(item: Record<string, unknown>): Record<string, string> {
  const row = Object.fromEntries(counts.map((name) => [name, "0"]));
  for (const [name, value] of Object.entries(item)) {
    const title = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    row[title] = String(value).replace(/^[=+\-@]/, "'$&");
  }
  row.decision = row.decision!.replace("ACCESS_REVIEW_DECISION_", "").toLowerCase();
  return row;
}

function withoutEmpty(row: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== "")
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
