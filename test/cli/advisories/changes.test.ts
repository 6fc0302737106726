// `gatehouse advisories changes`, as a person runs it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { deleteAdvisory } from "../../../src/services/vulnerabilities/advisories/write-advisory.ts";
import { addGroup, arrange } from "../../security/tree.ts";
import { type Caller, startCaller } from "../caller.ts";
import { start } from "../process.ts";

describe("gatehouse advisories changes", () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller[Symbol.asyncDispose]());
  const add = (parent: string, author: string) => {
    const advisory = create(AdvisorySchema, { advisoryId: `A-${author}`, author, artifactName: "app" });
    return arrange(caller.server, (tx) => insertAdvisory(tx, parent, advisory));
  };
  const changes = (...args: string[]) => caller.run("advisories", "changes", ...args);
  const authors = (stdout: string) =>
    stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).author as string]));

  it("prints what has changed, and continues where another run has ended", async () => {
    const group = await addGroup(caller.server, caller.server.groupUid, "feed");
    const first = await add(group, "first");
    await add(caller.server.groupUid, "elsewhere");
    const { code, stdout, stderr } = await changes("--since", "1h", "--group", "feed");
    assert.equal(code, 0, stderr);
    assert.deepEqual(authors(stdout), ["first"]);
    const [, token] = /^To continue from here: --after (\S+)$/m.exec(stderr)!;
    await add(group, "second");
    await arrange(caller.server, (tx) => deleteAdvisory(tx, first));
    const next = await changes("--after", token!, "--group", "feed");
    assert.deepEqual(authors(next.stdout), ["second", "first"]);
    assert.match(next.stdout, /"deleteTime":"20/);
  });

  it("follows changes until it is interrupted", async () => {
    const group = await addGroup(caller.server, caller.server.groupUid, "followed");
    await add(group, "early");
    const following = start(["advisories", "changes", "--group", "followed", "--follow"], caller.environment);
    try {
      await following.said(/"early"/);
      await add(group, "late");
      await following.said(/"late"/);
    } finally {
      following.child.kill();
      await following.finished;
    }
  });

  it("rejects a token of another group and --since together with --after", async () => {
    const { stderr } = await changes("--group", "example.org");
    const [, token] = /--after (\S+)$/m.exec(stderr)!;
    assert.match((await changes("--after", token!)).stderr, /page_token: is not a page token of this query/);
    assert.equal((await changes("--after", token!, "--since", "1h")).code, 2);
  });
});
