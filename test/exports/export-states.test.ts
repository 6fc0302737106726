// The state by which exports are validated.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { deleteAdvisory, updateAdvisory } from "../../src/services/vulnerabilities/advisories/write-advisory.ts";
import { readExportState } from "../../src/storage/engine/export-states.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";
import { addGroup, arrange } from "../security/tree.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`the state of what a group exports on ${database}`, () => {
    it("changes with each change of an advisory in the group or below it, and with nothing else", async () => {
      await using server = await startTestServer({ database });
      const group = await addGroup(server, server.groupUid, "group");
      const below = await addGroup(server, group, "below");
      const sibling = await addGroup(server, server.groupUid, "sibling");
      const places = { root: server.groupUid, group, below, sibling };
      const read = async () =>
        Object.fromEntries(
          await Promise.all(
            Object.entries(places).map(async ([name, uid]) => {
              return [name, (await readExportState(server.server.database.session, uid)).state] as const;
            }),
          ),
        );
      const changedBy = async (work: () => Promise<unknown>) => {
        const before = await read();
        await work();
        const now = await read();
        return Object.keys(places).filter((name) => before[name] !== now[name]);
      };
      const advisory = create(AdvisorySchema, { advisoryId: "A-1", author: "feed", artifactName: "app" });
      const fields = {
        author: "other",
        artifactName: "app",
        artifactType: "",
        artifactArchitecture: "",
        aliases: [],
        componentName: "",
        componentType: "",
        componentLocation: "",
      };
      let uid = "";
      const add = async () => {
        uid = await arrange(server, (tx) => insertAdvisory(tx, below, advisory));
      };
      const update = () => arrange(server, (tx) => updateAdvisory(tx, uid, fields));
      assert.deepEqual(await read(), { root: "", group: "", below: "", sibling: "" });
      assert.deepEqual(await changedBy(add), ["root", "group", "below"]);
      assert.deepEqual(await changedBy(update), ["root", "group", "below"]);
      assert.deepEqual(await changedBy(update), [], "an update that changes nothing");
      const failing = arrange(server, async (tx) => {
        await insertAdvisory(tx, sibling, advisory);
        throw new Error("undone");
      });
      assert.deepEqual(await changedBy(() => assert.rejects(failing)), []);
      assert.deepEqual(await changedBy(() => addGroup(server, sibling, "more")), []);
      assert.deepEqual(await changedBy(() => arrange(server, (tx) => insertAdvisory(tx, sibling, advisory))), [
        "root",
        "sibling",
      ]);
      assert.deepEqual(await changedBy(() => arrange(server, (tx) => deleteAdvisory(tx, uid))), [
        "root",
        "group",
        "below",
      ]);
      const remove = () => rest(server.url, server.ownerToken, "DELETE", `/iam/v2beta1/groups/${below}`);
      assert.deepEqual(await changedBy(remove), ["below"], "a group that is deleted has none");
    });

    it("is another one for each of many writers at once", async () => {
      await using server = await startTestServer({ database });
      const { database: stored } = server.server;
      const seen: string[] = [];
      const writers = Array.from({ length: 8 }, async (_, i) => {
        const advisory = create(AdvisorySchema, { advisoryId: `A-${i}`, artifactName: "app" });
        await arrange(server, (tx) => insertAdvisory(tx, server.groupUid, advisory));
        seen.push((await readExportState(stored.session, server.groupUid)).state);
      });
      await Promise.all(writers);
      assert.ok(seen.every((state) => /^[0-9a-f]{16}$/.test(state)));
      const { state, changeTime } = await readExportState(stored.session, server.groupUid);
      assert.ok(seen.includes(state));
      assert.ok(Math.abs(Date.now() - changeTime) < 600_000);
    });
  });
}
