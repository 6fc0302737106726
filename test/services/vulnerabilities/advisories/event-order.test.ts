// Events of one time: the state of an advisory is what was said last, and not what chance puts behind the others.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { newChildBehind } from "../../../../src/model/uid.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { addCaller, addGroup, operatorRole } from "../../../security/tree.ts";

const parent = "a".repeat(40);

after(stopPostgres);

it("a uid after another one sorts after it at any time, and has the usual form", () => {
  for (const segment of ["0".repeat(16), `fffff${"0".repeat(11)}`, `ffffe${"f".repeat(11)}`]) {
    let last = `${parent}/${segment}`;
    for (let i = 0; i < 1000; i++) {
      const next = newChildBehind(parent, last);
      assert.match(next, /^a{40}\/[0-9a-f]{16}$/);
      assert.ok(next > last, `${next} is behind ${last}`);
      last = next;
    }
  }
});

for (const database of databases) {
  describe(`events of one time on ${database}`, () => {
    let server: TestServer;
    let token: string;
    let group: string;
    before(async () => {
      server = await startTestServer({ database });
      group = await addGroup(server, null);
      token = (await addCaller(server, group, operatorRole.uid)).token;
    });
    after(() => server[Symbol.asyncDispose]());

    const call = async (method: string, path: string, body?: unknown) => {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      return reply.body;
    };
    const event = (note: string) => ({
      author: "ann",
      status: "APPROVED",
      timestamp: "2026-01-01T00:00:00Z",
      ...(note === "" ? { fixed: { fixedVersion: "1" } } : { fixNotPlanned: { note } }),
    });
    const notes = Array.from({ length: 12 }, (_, i) => `${i}`);

    it("events with the same time are in the order in which they were added, together or one by one, and the last one is the status", async () => {
      const advisory = { artifactName: "tool", artifactType: "apk", artifactArchitecture: "x86_64", author: "ann" };
      const body = { parentId: group, advisory: { ...advisory, events: notes.map(event) } };
      const { id } = await call("POST", "/vulnerabilities/v1/advisories", body);
      for (const note of ["12", "13", "14", ""])
        await call("POST", `/vulnerabilities/v1/advisories/${id}/events`, { advisoryEvent: event(note) });
      const { events } = await call("GET", `/vulnerabilities/v2beta1/advisories/${id}`);
      const shown = events.map(({ fixNotPlanned }: { fixNotPlanned?: { note: string } }) => fixNotPlanned?.note ?? "");
      assert.deepEqual(shown, [...notes, "12", "13", "14", ""]);
      const fixed = `/vulnerabilities/v2beta1/advisories?uidp.children_of=${group}&latestEventType=EVENT_TYPE_FILTER_FIXED`;
      assert.equal((await call("GET", fixed)).totalCount, "1");
    });
  });
}
