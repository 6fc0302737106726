// `gatehouse advisories affected`, as a person runs it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { addGroup, arrange } from "../../security/tree.ts";
import { type Caller, startCaller } from "../caller.ts";

describe("gatehouse advisories affected", () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
    const group = await addGroup(caller.server, caller.server.groupUid, "feed");
    const advisory = create(AdvisorySchema, {
      advisoryId: "CGA-2222-2222-2222",
      author: "a",
      artifactName: "tool",
      artifactType: "apk",
      aliases: ["CVE-2030-1000001"],
      events: [{ reviewState: 2, type: { case: "fixed", value: { fixedVersion: "1.2.3-r0" } } }],
    });
    await arrange(caller.server, (tx) => insertAdvisory(tx, group, advisory));
  });
  after(() => caller[Symbol.asyncDispose]());
  const run = (...args: string[]) => caller.run("advisories", "affected", ...args);

  it("shows what a version is affected by, of several packages", async () => {
    const { code, stdout, stderr } = await run("pkg:apk/wolfi/tool@1.2.2-r0", "pkg:npm/other@1", "--group", "feed");
    assert.equal(code, 0, stderr);
    const [, line = "", ...others] = stdout.trim().split("\n");
    assert.deepEqual(line.split(/\s{2,}/), [
      "pkg:apk/wolfi/tool@1.2.2-r0",
      "CGA-2222-2222-2222",
      "CVE-2030-1000001",
      "affected",
      "1.2.3-r0",
    ]);
    assert.deepEqual(others, []);
  });

  it("shows fixed advisories only on request", async () => {
    assert.match((await run("pkg:apk/wolfi/tool", "--version", "1.2.3-r0")).stderr, /No advisories/);
    const { stdout } = await run("pkg:apk/wolfi/tool", "--version", "1.2.3-r0", "--all", "-o", "json");
    const { items } = JSON.parse(stdout);
    assert.deepEqual([items.length, items[0].status], [1, "PRODUCT_STATUS_FIXED"]);
  });

  it("a version that cannot be compared is marked", async () => {
    assert.match((await run("pkg:apk/wolfi/tool@latest")).stdout, / affected\? /);
  });

  it("rejects a value that is not a package URL, and one version for several packages", async () => {
    assert.match((await run("tool")).stderr, /queries\[0\]\.purl: must be a package URL/);
    assert.equal((await run("pkg:npm/a", "pkg:npm/b", "--version", "1")).code, 2);
  });
});
