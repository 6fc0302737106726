// Names of repositories and the places that they stand for.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { findPlace } from "../../src/storage/registry/repository-name.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addGroup } from "../security/tree.ts";

describe("the place of a name", () => {
  let server: TestServer;
  let root: string;
  let hidden: string;
  let open: string;
  before(async () => {
    server = await startTestServer();
    root = await addGroup(server, null);
    hidden = await addGroup(server, root, "hidden");
    open = await addGroup(server, root, "open");
    await addGroup(server, hidden, "inner");
  });
  after(() => server[Symbol.asyncDispose]());

  /** Looks a name up, and tells of which groups it was asked whether they are in reach. */
  async function look(name: string, reached: readonly string[]) {
    const asked: string[] = [];
    const rules = { registryGroup: "", maxDepth: 32 };
    const place = await findPlace(server.server.database.session, `${root}/${name}`, rules, (uid) => {
      asked.push(uid);
      return reached.includes(uid);
    });
    return { place, asked };
  }

  it("I7: no name is looked up below a group that the caller may not list", async () => {
    assert.deepEqual(await look("hidden/inner/app", []), { place: undefined, asked: [root] });
    assert.deepEqual(await look("absent/inner/app", []), { place: undefined, asked: [root] });
    assert.deepEqual(await look("hidden/inner/app", [root]), { place: undefined, asked: [root, hidden] });
  });

  it("is found where all groups on the way are in reach", async () => {
    const { place } = await look("open/app", [root, open]);
    assert.deepEqual(place, { groupUid: open, missing: [], repoName: "app", repoUid: undefined });
  });
});
