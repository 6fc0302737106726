// Lists of advisories are cached with their events and filters. Every write to one is in the next list.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import {
  AdvisoryEventSchema,
  AdvisorySchema,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { contentOf } from "../../../../src/services/vulnerabilities/advisories/event-content.ts";
import { insertAdvisory } from "../../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import {
  createEvent,
  deleteAdvisory,
  updateEvent,
} from "../../../../src/services/vulnerabilities/advisories/write-advisory.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { type Ground, openGround, replyOf } from "../../../security/ground.ts";
import { addCaller, addGroup, arrange, ownerRole } from "../../../security/tree.ts";

const pending = "REVIEW_STATE_PENDING";
const event = (author: string) =>
  contentOf(fromJson(AdvisoryEventSchema, { author, reviewState: pending, detection: { manual: {} } }));

/** Lists that differ in what has to change for them to change. */
const filters: readonly JsonObject[] = [
  {},
  { eventAuthors: ["ann"] },
  { eventAuthors: ["bob"] },
  { excludeEventAuthors: ["bob"] },
  { aliases: ["CVE-2026-0001"] },
  { query: "nginx" },
  { query: "nginx", eventReviewStates: [pending] },
];

after(stopPostgres);

for (const database of databases) {
  describe(`cached advisories on ${database}`, () => {
    let ground: Ground;
    let token: string;
    let group: string;
    const uids: string[] = [];

    before(async () => {
      ground = await openGround({ database });
      group = await addGroup(ground.server, null);
      token = (await addCaller(ground.server, group, ownerRole.uid)).token;
    });
    after(() => ground[Symbol.asyncDispose]());

    /** Each list through every transport until it is remembered: the authors of the events of each advisory, by its public id. */
    async function lists(): Promise<Record<string, unknown>[]> {
      const found: Record<string, unknown>[] = [];
      for (const filter of filters) {
        const request = { ...filter, orderBy: "advisory_id" };
        const { advisories = [], totalCount } = replyOf(
          await ground.everywhere(token, "AdvisoriesService/ListAdvisories", request),
        ) as { advisories?: JsonObject[]; totalCount?: string };
        const authors = advisories.map(({ advisoryId, events = [] }) => [
          advisoryId,
          (events as JsonObject[]).map(({ author }) => author).join(),
        ]);
        assert.equal(String(totalCount), String(authors.length));
        found.push(Object.fromEntries(authors));
      }
      return found;
    }

    async function add(advisoryId: string, ...authors: string[]): Promise<void> {
      const events = authors.map((author) => ({ author, reviewState: pending, detection: { manual: {} } }));
      const json = { advisoryId, artifactName: "nginx", aliases: ["CVE-2026-0001"], events };
      uids.push(await arrange(ground.server, (tx) => insertAdvisory(tx, group, fromJson(AdvisorySchema, json))));
    }

    it("a new advisory, a new event, a changed event and a deletion appear in the next list", async () => {
      const { cache } = ground.server.server.database;
      await add("A-1", "ann");
      const one = { "A-1": "ann" };
      assert.deepEqual(await lists(), [one, one, {}, one, one, one, one]);
      const before = cache.hits;
      assert.deepEqual(await lists(), [one, one, {}, one, one, one, one]);
      assert.ok(cache.hits > before, "nothing is remembered");

      await add("A-2");
      const two = { "A-1": "ann", "A-2": "" };
      assert.deepEqual(await lists(), [two, one, {}, two, two, two, one]);

      const { uid } = await arrange(ground.server, (tx) => createEvent(tx, uids[1]!, event("bob")));
      const three = { "A-1": "ann", "A-2": "bob" };
      assert.deepEqual(await lists(), [three, one, { "A-2": "bob" }, one, three, three, three]);

      await arrange(ground.server, (tx) => updateEvent(tx, uid, event("ann")));
      const four = { "A-1": "ann", "A-2": "ann" };
      assert.deepEqual(await lists(), [four, four, {}, four, four, four, four]);

      await arrange(ground.server, (tx) => deleteAdvisory(tx, uids[0]!));
      const last = { "A-2": "ann" };
      assert.deepEqual(await lists(), [last, last, {}, last, last, last, last]);
    });
  });
}
