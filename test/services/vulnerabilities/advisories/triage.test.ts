// The search of advisories by severity, score and publication gives what sorting and filtering all of them would give.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import {
  AdvisorySchema,
  EventTypeFilter,
  ReviewState,
  Severity_Type,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AdvisoryFacetsService } from "../../../../gen/gatehouse/vulnerabilities/v1/facets_pb.ts";
import {
  AdvisorySearchService,
  AdvisorySeverity,
  type FoundAdvisory,
  type SearchAdvisoriesRequestSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { toTimestamp } from "../../../../src/aip/timestamps.ts";
import { insertAdvisory } from "../../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { maxSortPrefix } from "../../../../src/storage/schema/ordered-text.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { isQuick } from "../../../harness/quick.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { addGroup, arrange } from "../../../security/tree.ts";

after(stopPostgres);

type Asked = MessageInitShape<typeof SearchAdvisoriesRequestSchema>;

/** Vectors with their scores; -1 stands for none. */
const vectors: readonly (readonly [score: number, vector: string])[] = [
  [9.8, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"],
  [7.5, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"],
  [5.3, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N"],
  [0, "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"],
  [-1, ""],
];
const day = 24 * 60 * 60 * 1000;
const start = Date.UTC(2025, 0, 1);

interface Model {
  readonly id: string;
  readonly score: number;
  readonly published: number;
  readonly name: string;
  readonly isAffected: boolean;
}

/** Inserts advisories with some equal scores, times and names, in two groups of an organization. */
async function plant(server: TestServer, count: number): Promise<Model[]> {
  const below = await addGroup(server, server.groupUid);
  const models = Array.from({ length: count }, (_, i): Model => {
    const [score] = vectors[i % vectors.length]!;
    return { id: `X-${i}`, score, published: start + ((i * 7) % 11) * day, name: `p${i % 3}`, isAffected: i % 2 === 0 };
  });
  await arrange(server, async (tx) => {
    for (const [i, { id, score, published, name, isAffected }] of models.entries()) {
      const vector = vectors.find(([known]) => known === score)![1];
      const type = isAffected ? "truePositiveDetermination" : "fixNotPlanned";
      const advisory = create(AdvisorySchema, {
        advisoryId: id,
        author: "osv",
        artifactName: name,
        severities: vector === "" ? [] : [{ type: Severity_Type.CVSS_V3, score: vector }],
        events: [{ author: "osv", reviewState: ReviewState.APPROVED, type: { case: type, value: {} } }],
        createTime: toTimestamp(published),
      });
      await insertAdvisory(tx, i % 3 === 0 ? below : server.groupUid, advisory);
    }
  });
  return models;
}

/** Returns a client with the token of the owner. */
function clientOf<S extends DescService>({ url, ownerToken }: TestServer, service: S) {
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${ownerToken}`);
        return next(request);
      },
    ],
  });
  return createClient(service, transport);
}

/** Reads all pages of a search, and checks their totals. */
async function search(server: TestServer, asked: Asked): Promise<FoundAdvisory[]> {
  const client = clientOf(server, AdvisorySearchService);
  const found: FoundAdvisory[] = [];
  let pageToken = "";
  do {
    const page = await client.searchAdvisories({ ...asked, pageSize: 4, pageToken });
    found.push(...page.results);
    pageToken = page.nextPageToken;
    const all = await client.searchAdvisories({ ...asked, skip: found.length });
    assert.equal(Number(page.totalCount), found.length + all.results.length, "the total of a page");
  } while (pageToken !== "");
  return found;
}

const idsOf = (found: readonly FoundAdvisory[]) => found.map(({ advisory }) => advisory!.advisoryId);
const sorted = (ids: readonly string[]) => [...ids].sort();

for (const database of databases) {
  describe(`advisories by severity on ${database}`, () => {
    it("a search by severity, score, publication and status finds exactly the advisories that match, over all pages", async () => {
      await using server = await startTestServer({ database });
      const models = await plant(server, 30);
      const { CRITICAL, HIGH, NONE } = AdvisorySeverity;
      const affected = { latestEventType: EventTypeFilter.TRUE_POSITIVE_DETERMINATION };
      const cases: readonly (readonly [Asked, (one: Model) => boolean])[] = [
        [{ severities: [CRITICAL] }, ({ score }) => score >= 9],
        [{ severities: [HIGH, NONE] }, ({ score }) => score <= 0 || score === 7.5],
        [{ severities: [CRITICAL], list: affected }, (one) => one.score >= 9 && one.isAffected],
        [{ list: affected }, ({ isAffected }) => isAffected],
        [{ minScore: 5.3 }, ({ score }) => score >= 5.3],
        [{ minScore: 5.31 }, ({ score }) => score > 5.3],
        // The same filters with and without those of the list, one after the other: their statements are prepared once.
        [{ minScore: 5.3, list: { excludeEventAuthors: ["osv"] } }, () => false],
        [{ publishedAfter: toTimestamp(start + 5 * day), list: { excludeEventAuthors: ["osv"] } }, () => false],
        [{ publishedAfter: toTimestamp(start + 5 * day) }, ({ published }) => published > start + 5 * day],
        [{ severities: [CRITICAL], list: { artifactNames: ["p1"] } }, (one) => one.score >= 9 && one.name === "p1"],
        [{}, () => true],
      ];
      for (const [asked, matches] of cases)
        for (const orderBy of isQuick ? ["", "score desc"] : ["", "score desc", "published", "changed desc", "package"])
          assert.deepEqual(
            sorted(idsOf(await search(server, { ...asked, orderBy }))),
            sorted(models.filter(matches).map(({ id }) => id)),
            JSON.stringify([asked.severities, asked.minScore, orderBy]),
          );
    });

    it("results come in the order that was asked for, and show the score and the time of publication", async () => {
      await using server = await startTestServer({ database });
      const models = new Map((await plant(server, 30)).map((one) => [one.id, one]));
      const keys = { score: "score", published: "published", publish_time: "published", package: "name" } as const;
      for (const [orderBy, key] of Object.entries(keys))
        for (const direction of ["", " desc"]) {
          const found = await search(server, { orderBy: `${orderBy}${direction}` });
          const values = idsOf(found).map((id) => models.get(id)![key]);
          const expected = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
          assert.deepEqual(values, direction === "" ? expected : expected.toReversed(), `${orderBy}${direction}`);
          for (const { advisory, score = -1, publishTime } of found) {
            const model = models.get(advisory!.advisoryId)!;
            assert.deepEqual([score, publishTime], [model.score, toTimestamp(model.published)]);
          }
        }
    });

    it("a search in the order of packages has each advisory once, also if only the ends of long names differ", async () => {
      await using server = await startTestServer({ database });
      const ids = Array.from({ length: 6 }, (_, i) => `X-${i}`);
      await arrange(server, async (tx) => {
        for (const advisoryId of ids) {
          const artifactName = `${"p".repeat(maxSortPrefix)}${advisoryId}`;
          await insertAdvisory(
            tx,
            server.groupUid,
            create(AdvisorySchema, { advisoryId, author: "osv", artifactName }),
          );
        }
      });
      for (const orderBy of ["package", "package desc"])
        assert.deepEqual(sorted(idsOf(await search(server, { orderBy }))), ids, orderBy);
    });

    it("the counts of severities leave out the choice of a severity, and those of statuses follow it", async () => {
      await using server = await startTestServer({ database });
      await plant(server, 30);
      const asked = { severities: [AdvisorySeverity.CRITICAL], minScore: 0 };
      const { facets } = await clientOf(server, AdvisoryFacetsService).countAdvisories(asked);
      const countsOf = (name: string) =>
        Object.fromEntries(
          facets.find(({ filter }) => filter === name)!.values.map(({ value, count }) => [value, Number(count)]),
        );
      assert.deepEqual(countsOf("severities"), {
        ADVISORY_SEVERITY_CRITICAL: 6,
        ADVISORY_SEVERITY_HIGH: 6,
        ADVISORY_SEVERITY_MEDIUM: 6,
        ADVISORY_SEVERITY_NONE: 6,
      });
      assert.deepEqual(countsOf("latest_event_type"), {
        EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION: 3,
        EVENT_TYPE_FILTER_FIX_NOT_PLANNED: 3,
      });
    });

    it("a score outside of the scale, an unknown order and a negative page are refused by their fields", async () => {
      await using server = await startTestServer({ database });
      const client = clientOf(server, AdvisorySearchService);
      const fieldsOf = async (asked: Asked) =>
        await client.searchAdvisories(asked).then(String, (error) => JSON.stringify([String(error), error.details]));
      assert.match(await fieldsOf({ minScore: 10.1 }), /min_score/);
      assert.match(await fieldsOf({ minScore: Number.NaN }), /min_score/);
      assert.match(await fieldsOf({ orderBy: "score desc", skip: 10_001 }), /must be at most 10000/);
      assert.match(await fieldsOf({ orderBy: "severity" }), /order_by/);
      assert.match(await fieldsOf({ list: { skip: -1 } }), /list\.skip/);
    });
  });
}
