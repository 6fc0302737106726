// Identities of one name in the list of who may do something.
import assert from "node:assert/strict";
import { it } from "node:test";
import { startCaller } from "./caller.ts";

it("who-can shows the uids of identities that have one name", async () => {
  await using caller = await startCaller();
  const make = async (parent: string) =>
    await caller.json(
      "iam",
      "identities",
      "create",
      "owner",
      "--yes",
      "--parent",
      parent,
      "--role",
      "viewer",
      "--identity-issuer",
      "https://issuer.test",
      "--subject",
      parent,
    );
  await caller.json("iam", "groups", "create", "team", "--parent", "example.org");
  const uids = [await make("example.org"), await make("example.org/team")].map(({ uid }) => uid);
  const { stdout, stderr } = await caller.run("iam", "access", "who-can", "example.org/team");
  for (const uid of uids) assert.ok(stdout.includes(`owner (${uid})`), stdout + stderr);
});
