// Advisories and all of their filters, through every transport and on both databases.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { isQuick } from "../../../harness/quick.ts";
import { codeOf, type Ground, openGround, replyOf } from "../../../security/ground.ts";
import { addCaller, addGroup, arrange, ownerRole } from "../../../security/tree.ts";

const approved = "REVIEW_STATE_APPROVED";
const pending = "REVIEW_STATE_PENDING";
const at = (day: number) => `2026-01-${String(day).padStart(2, "0")}T00:00:00.123Z`;

const base = { author: "feed", artifactType: "apk", artifactArchitecture: "x86_64", componentType: "go-module" };

/** By public id, from which the id before the migration follows. */
const samples: Readonly<Record<string, JsonObject & { origin?: string }>> = {
  "CGA-2222-2222-2222": {
    artifactName: "nginx",
    componentName: "OpenSSL",
    componentLocation: "/usr/bin/nginx",
    aliases: ["CVE-2026-0001", "GHSA-aaaa-bbbb-cccc"],
    severities: [{ type: "TYPE_CVSS_V3", score: "CVSS:3.1/AV:N" }, { score: "low" }],
    events: [
      { createTime: at(3), author: "ann", reviewer: "rob", reviewState: approved, fixed: { fixedVersion: "1.2" } },
      {
        createTime: at(1),
        author: "bot",
        reviewState: approved,
        findings: "e30=",
        issue: "https://example.org/1",
        detection: { scanv1: { scanner: "grype", component: "openssl" } },
      },
    ],
  },
  "CGA-3333-3333-3333": {
    artifactName: "nginx-doc",
    origin: "nginx",
    componentName: "zlib",
    componentLocation: "/lib/zlib",
    legacyAdvisoryId: "OLD-1",
    aliases: ["CVE-2026-0002"],
    events: [
      { createTime: at(1), author: "bot", reviewState: approved, detection: { manual: {} } },
      { createTime: at(2), author: "ann", reviewState: pending, fixNotPlanned: { note: "100% sure" } },
    ],
  },
  "CGA-4444-4444-4444": {
    artifactName: "re_dis",
    artifactType: "image",
    artifactArchitecture: "aarch64",
    componentName: "lua",
    componentType: "npm",
    componentLocation: "/lib/lua",
    events: [],
  },
};

const [first, second, third] = Object.keys(samples) as [string, string, string];

/** A filter, and the public ids that pass it. */
const filters: readonly (readonly [rule: string, filter: JsonObject, passing: readonly string[]])[] = [
  ["nothing keeps all", {}, [first, second, third]],
  ["the ids of one filter are alternatives", { advisoryIds: [first, third, "CGA-x"] }, [first, third]],
  ["a former id", { legacyAdvisoryIds: ["OLD-1"] }, [second]],
  ["a former id that is empty is nobody's", { legacyAdvisoryIds: ["OLD-2"] }, []],
  ["an artifact by its exact name", { artifactNames: ["nginx"] }, [first]],
  ["an origin stands for all of its artifacts", { origin: "nginx" }, [first, second]],
  ["an artifact is its own origin", { origin: "re_dis" }, [third]],
  [
    "names of artifacts do not count together with an origin",
    { origin: "nginx", artifactNames: ["re_dis"] },
    [first, second],
  ],
  ["an empty origin keeps all", { origin: "", artifactNames: ["re_dis"] }, [third]],
  ["a type of artifact", { artifactTypes: ["image"] }, [third]],
  ["an architecture", { artifactArchitectures: ["x86_64"] }, [first, second]],
  ["components", { componentNames: ["zlib", "lua"] }, [second, third]],
  ["a component in another case", { componentNames: ["openssl"] }, []],
  ["a type of component", { componentTypes: ["npm"] }, [third]],
  ["a place of a component", { componentLocations: ["/lib/zlib"] }, [second]],
  ["an alias", { aliases: ["GHSA-aaaa-bbbb-cccc"] }, [first]],
  ["a part of an alias does not match", { aliases: ["CVE-2026"] }, []],
  ["filters combine by AND", { aliases: ["CVE-2026-0001", "CVE-2026-0002"], componentNames: ["zlib"] }, [second]],
  ["an author of an event", { eventAuthors: ["ann"] }, [first, second]],
  ["a reviewer", { eventReviewers: ["rob"] }, [first]],
  ["a state of review", { eventReviewStates: [pending] }, [second]],
  ["an unspecified state keeps all", { eventReviewStates: ["REVIEW_STATE_UNSPECIFIED"] }, [first, second, third]],
  [
    "types of events",
    { eventTypes: ["EVENT_TYPE_FILTER_FIXED", "EVENT_TYPE_FILTER_FIX_NOT_PLANNED"] },
    [first, second],
  ],
  ["one event passes all filters of events", { eventAuthors: ["ann"], eventReviewStates: [approved] }, [first]],
  ["two events do not pass together", { eventAuthors: ["bot"], eventTypes: ["EVENT_TYPE_FILTER_FIXED"] }, []],
  ["an author who is not wanted", { excludeEventAuthors: ["ann"] }, [third]],
  ["nobody who is not wanted", { excludeEventAuthors: ["eve"] }, [first, second, third]],
  ["the latest event that was approved", { latestEventType: "EVENT_TYPE_FILTER_FIXED" }, [first]],
  ["not one that was not approved", { latestEventType: "EVENT_TYPE_FILTER_FIX_NOT_PLANNED" }, []],
  ["an earlier one in its place", { latestEventType: "EVENT_TYPE_FILTER_DETECTION" }, [second]],
  ["an unspecified type keeps all", { latestEventType: "EVENT_TYPE_FILTER_UNSPECIFIED" }, [first, second, third]],
  ["a query in the name of the artifact", { query: "GINX" }, [first, second]],
  ["a query in that of the component", { query: "openss" }, [first]],
  ["a query in an alias", { query: "cve-2026-000" }, [first, second]],
  ["a query is not a pattern", { query: "e_d" }, [third]],
  ["nor is a percent sign", { query: "n%x" }, []],
  ["nor is a backslash", { query: "\\" }, []],
  ["SQL is a text", { artifactNames: ["x') or 1=1 --"], query: "' or '1'='1" }, []],
];

// Outside of any suite it runs when all files of the process are through: others may use the same server.
after(stopPostgres);

for (const database of databases) {
  describe(`advisories on ${database}`, () => {
    let ground: Ground;
    let group: string;
    let token: string;
    const uids: Record<string, string> = {};
    const list = (request: JsonObject) => ground.everywhere(token, "AdvisoriesService/ListAdvisories", request);

    before(async () => {
      ground = await openGround({ database });
      group = await addGroup(ground.server, null);
      const foreign = await addGroup(ground.server, null);
      token = (await addCaller(ground.server, group, ownerRole.uid)).token;
      await arrange(ground.server, async (tx) => {
        for (const [advisoryId, { origin, ...fields }] of Object.entries(samples)) {
          const advisory = fromJson(AdvisorySchema, { ...base, ...fields, advisoryId });
          uids[advisoryId] = await insertAdvisory(tx, group, advisory, origin);
          await insertAdvisory(tx, foreign, advisory, origin);
        }
      });
    });
    after(() => ground[Symbol.asyncDispose]());

    it("an advisory is read with its events, oldest first, as they were given", async () => {
      const uid = uids[first]!;
      const { events, ...advisory } = replyOf(await ground.everywhere(token, "AdvisoriesService/GetAdvisory", { uid }));
      const { createTime, updateTime, ...rest } = advisory;
      const { origin: _, events: given, ...sample } = samples[first]!;
      assert.deepEqual(rest, { uid, advisoryId: first, ...base, ...sample });
      assert.equal(createTime, updateTime);
      const shown = (events as JsonObject[]).map(({ uid: event, ...fields }) => {
        assert.match(String(event), new RegExp(`^${uid}/[0-9a-f]{16}$`));
        return fields;
      });
      assert.deepEqual(shown, (given as JsonObject[]).toReversed());
    });

    for (const [rule, filter, passing] of filters) {
      it(rule, async () => {
        const reply = replyOf(await list({ ...filter, orderBy: "advisory_id" }));
        const { advisories = [], totalCount } = reply as { advisories?: JsonObject[]; totalCount: string };
        assert.deepEqual(
          advisories.map(({ advisoryId }) => advisoryId),
          passing,
        );
        // P5: what the caller cannot see is not counted.
        assert.equal(totalCount, String(passing.length));
      });
    }

    for (const orderBy of ["", "name desc", "created_at", "updated_at desc", "uid desc"]) {
      it(`P8: filtered pages in the order "${orderBy}" show all that passes, once`, async () => {
        const filter = { aliases: ["CVE-2026-0001", "CVE-2026-0002"], orderBy };
        const one = replyOf(await list({ ...filter, pageSize: 1 }));
        const two = replyOf(await list({ ...filter, pageSize: 1, pageToken: String(one.nextPageToken) }));
        const skipped = replyOf(await list({ ...filter, pageSize: 1, skip: 1 }));
        assert.deepEqual([one.totalCount, two.totalCount, two.nextPageToken], ["2", "2", undefined]);
        const shown = [one, two].map(({ advisories }) => ((advisories as JsonObject[])[0] as JsonObject).advisoryId);
        assert.deepEqual(shown.toSorted(), [first, second]);
        assert.deepEqual(skipped.advisories, two.advisories);
      });
    }

    it("filters apply also to advisories that are named by uid", async () => {
      const ids = [uids[first]!, uids[third]!];
      const { advisories, totalCount } = replyOf(await list({ uidp: { ids }, eventAuthors: ["ann"] }));
      assert.deepEqual([(advisories as JsonObject[])[0]?.advisoryId, totalCount], [first, "1"]);
    });

    it("P9: a thousand values of one filter are alternatives, and more are rejected", async () => {
      const many = (count: number) => Array.from({ length: count }, (_, i) => (i === 0 ? first : `CGA-${i}`));
      const { totalCount } = replyOf(
        await ground.once(token, "AdvisoriesService/ListAdvisories", { advisoryIds: many(1000) }),
      );
      assert.equal(totalCount, "1");
      const refused = await ground.once(token, "AdvisoriesService/ListAdvisories", { advisoryIds: many(1001) });
      assert.equal(codeOf(refused), "INVALID_ARGUMENT");
    });

    it("filters that most advisories pass: pages in every order show each once, and totals are exact", {
      skip: isQuick,
    }, async () => {
      const many = 1100;
      const crowd = await addGroup(ground.server, group);
      await arrange(ground.server, async (tx) => {
        for (let i = 0; i < many; i++) {
          const events = [{ author: "bot", reviewState: approved, detection: { manual: {} } }];
          const names = { artifactName: `crowd-${i % 7}`, componentName: "crowd", artifactType: "crowd" };
          const advisory = fromJson(AdvisorySchema, { ...base, ...names, advisoryId: `CROWD-${i}`, events });
          await insertAdvisory(tx, crowd, advisory);
        }
      });
      const place = { uidp: { descendantsOf: group } };
      for (const [filter, total] of [
        [{ artifactTypes: ["crowd"] }, many],
        [{ query: "crowd-" }, many],
        [{ artifactTypes: ["crowd"], eventAuthors: ["bot"] }, many],
        [{ artifactTypes: ["crowd"], query: "wd-3" }, 157],
        [{ artifactNames: ["crowd-1", "crowd-2", "crowd-3", "crowd-0", "crowd-4", "crowd-5", "crowd-6"] }, many],
        [{ eventTypes: ["EVENT_TYPE_FILTER_DETECTION", "EVENT_TYPE_FILTER_FIXED"], artifactTypes: ["crowd"] }, many],
        [{ excludeEventAuthors: ["ann"], artifactTypes: ["crowd"] }, many],
      ] as const) {
        for (const orderBy of ["uid", "name desc", "aliases"]) {
          const shown = new Set<string>();
          let pageToken = "";
          do {
            const request = { ...filter, ...place, orderBy, pageSize: 200, pageToken } as unknown as JsonObject;
            const reply = replyOf(await ground.once(token, "AdvisoriesService/ListAdvisories", request));
            assert.equal(reply.totalCount, String(total), JSON.stringify(filter));
            for (const { uid } of reply.advisories as JsonObject[]) shown.add(String(uid));
            pageToken = String(reply.nextPageToken ?? "");
          } while (pageToken !== "");
          assert.equal(shown.size, total, `${JSON.stringify(filter)} by ${orderBy}`);
        }
      }
      const far = { artifactTypes: ["crowd"], orderBy: "name", skip: 1099, pageSize: 1 };
      const { advisories } = replyOf(await ground.once(token, "AdvisoriesService/ListAdvisories", far));
      assert.equal((advisories as JsonObject[])[0]?.advisoryId, "CROWD-999");
    });

    it("NOT_FOUND for a missing advisory", async () => {
      const request = { uid: `${group}/${"f".repeat(16)}` };
      assert.equal(codeOf(await ground.everywhere(token, "AdvisoriesService/GetAdvisory", request)), "NOT_FOUND");
    });
  });
}
