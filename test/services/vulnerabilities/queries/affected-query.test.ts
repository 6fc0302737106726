// Queries by package, through a server: QueryAffected and the API of OSV.dev.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import { AdvisorySchema } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AdvisoryRecordSchema } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readOpenvex } from "../../../../src/advisories/openvex/read.ts";
import { readOsv } from "../../../../src/advisories/osv/read.ts";
import { readPackage } from "../../../../src/advisories/queries/package.ts";
import type { Reader } from "../../../../src/advisories/reading.ts";
import { readYamlAdvisories } from "../../../../src/advisories/yaml/read.ts";
import { insertAdvisory } from "../../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { newBudget, searchPackage } from "../../../../src/services/vulnerabilities/queries/package-search.ts";
import {
  generatedEcosystems,
  generatedRecords,
  type Json,
  newDraws,
  versionOf,
} from "../../../advisories/osv/generated.ts";
import { isAffected } from "../../../advisories/queries/osv-evaluator.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { addCaller, addGroup, arrange, viewerRole } from "../../../security/tree.ts";

after(stopPostgres);

/** Made up: a package of a language that one version fixed. */
const lodash = (id: string, changes: Json = {}): Json => ({
  id,
  modified: "2030-01-02T03:04:05Z",
  aliases: [`CVE-2030-${id.length}`],
  affected: [
    {
      package: { ecosystem: "npm", name: "left" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.3.0" }] }],
    },
  ],
  ...changes,
});

/** A document in which one version of an image is affected, and another one is not. */
const vex = {
  "@context": "https://openvex.dev/ns/v0.2.0",
  "@id": "https://vex.example.test/1",
  author: "vex",
  version: 1,
  timestamp: "2030-01-02T03:04:05Z",
  statements: [
    {
      vulnerability: { name: "CVE-2030-7" },
      status: "not_affected",
      justification: "component_not_present",
      products: [{ "@id": "pkg:oci/app@2?repository_url=r.example" }],
    },
    {
      vulnerability: { name: "CVE-2030-7" },
      status: "affected",
      action_statement: "update",
      products: [{ "@id": "pkg:oci/app@1?repository_url=r.example", subcomponents: [{ "@id": "pkg:npm/part" }] }],
    },
    {
      vulnerability: { name: "CVE-2030-7" },
      status: "under_investigation",
      products: [{ "@id": "pkg:oci/app@3?repository_url=r.example" }],
    },
  ],
};

for (const database of databases) {
  describe(`queries by package on ${database}`, () => {
    let server: TestServer;
    let ahead = 0;
    /** Fills the budget of the owner for questions. */
    const fillBudget = () => {
      ahead += 170_000;
    };
    beforeEach(fillBudget);
    before(async () => {
      server = await startTestServer({ database, clock: () => Date.now() + ahead });
    });
    after(() => server[Symbol.asyncDispose]());

    async function importAll(group: string, reader: Reader, document: unknown): Promise<void> {
      const items = [...reader(document, { source: "" }).items];
      const records = items.flatMap(({ record }) => (record ? [toJson(AdvisoryRecordSchema, record)] : []));
      const path = `/gatehouse/vulnerabilities/v1/records/${group}:import`;
      const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { records });
      assert.equal(status, 200, JSON.stringify(body));
      for (const result of body.results) assert.equal(result.error ?? "", "");
    }
    const post = (path: string, body: Json, token = server.ownerToken) => rest(server.url, token, "POST", path, body);
    const query = (body: Json, token?: string) => post("/gatehouse/vulnerabilities/v1/affected:query", body, token);
    const osv = (path: string, body: Json, token?: string) => post(`/gatehouse/osv${path}`, body, token);
    const inGroup = (descendantsOf: string) => ({ uidp: { descendantsOf } });
    const ids = (body: Json) => (body.vulns as Json[]).map(({ id }) => id as string).sort();
    /** Returns the ids of each query of a batch. Where a slow server gave a page token in place of the rest, asks for the rest. */
    async function idsOfBatch(path: string, queries: readonly Json[]): Promise<string[][]> {
      const { body } = await osv(path, { queries });
      const found: string[][] = body.results.map(ids);
      const open = (body.results as Json[]).flatMap(({ next_page_token: token }, i) => (token ? [{ i, token }] : []));
      if (open.length === 0) return found;
      fillBudget();
      const more = open.map(({ i, token }) => ({ ...queries[i], page_token: token }));
      const rest = await idsOfBatch(path, more);
      for (const [j, { i }] of open.entries()) found[i]!.push(...rest[j]!);
      return found.map((each) => each.sort());
    }
    const brief = (body: Json) =>
      (body.advisories as Json[]).map(({ advisoryId, status, fixedVersions }) =>
        [advisoryId, status.replace("PRODUCT_STATUS_", "").toLowerCase(), ...fixedVersions].join(" "),
      );

    it("match generated records as the specification defines", async () => {
      const group = await addGroup(server, server.groupUid, "generated");
      const documents = generatedRecords(31, 60);
      await importAll(group, readOsv, documents);
      const draws = newDraws(3);
      const asked = generatedEcosystems.flatMap(({ ecosystem, names, releases = [] }) =>
        ["", ...releases.map((release) => `:${release}`)].flatMap((release) =>
          names.flatMap((name) =>
            [draws.below(1000), draws.below(1000)].map((rank) => ({ ecosystem: ecosystem + release, name, rank })),
          ),
        ),
      );
      const versions = asked.map(({ ecosystem, name, rank }) => ({
        ecosystem,
        name,
        version: versionOf(ecosystem, rank),
      }));
      const expected = asked.map((each) =>
        documents
          .filter((document) => isAffected(document, each))
          .map(({ id }) => id as string)
          .sort(),
      );
      assert.ok(expected.flat().length > 50);
      const queries = versions.map(({ version, ...named }) => ({ version, package: named }));
      assert.deepEqual(await idsOfBatch(`/groups/${group}/v1/querybatch`, queries), expected);
      const { body: all } = await post("/gatehouse/vulnerabilities/v1/affected:batchQuery", {
        queries: versions,
        ...inGroup(group),
      });
      fillBudget();
      for (const [i, result] of (all.results as Json[]).entries()) {
        const affected = result.advisories.filter(({ status }: Json) => status === "PRODUCT_STATUS_AFFECTED");
        const documentsOf = affected.flatMap(({ statements }: Json) =>
          statements.flatMap((each: Json) => (each.status === "PRODUCT_STATUS_AFFECTED" ? [each.document] : [])),
        );
        assert.deepEqual([...new Set(documentsOf)].sort(), expected[i], JSON.stringify(versions[i]));
      }
      for (const [i, each] of queries.entries()) {
        if (expected[i]!.length === 0 || i % 4 !== 0) continue;
        const { body } = await osv(`/groups/${group}/v1/query`, each);
        assert.deepEqual(ids(body), expected[i]);
        for (const vuln of body.vulns)
          assert.deepEqual(
            vuln,
            documents.find(({ id }) => id === vuln.id),
          );
      }
    });

    it("the status is that of the version, with the statement of each source", async () => {
      const group = await addGroup(server, server.groupUid, "statuses");
      await importAll(group, readOsv, [lodash("GHSA-1")]);
      await importAll(group, readOpenvex, vex);
      const at = async (purl: string) => brief((await query({ query: { purl }, ...inGroup(group) })).body);
      assert.deepEqual(await at("pkg:npm/left@1.2.9"), ["GHSA-1 affected 1.3.0"]);
      assert.deepEqual(await at("pkg:npm/left@1.3.0"), ["GHSA-1 fixed 1.3.0"]);
      assert.deepEqual(await at("pkg:npm/left"), ["GHSA-1 affected 1.3.0"]);
      assert.deepEqual(await at("pkg:npm/other@1.3.0"), []);
      const image = (version: string, more = "") =>
        query({ query: { purl: `pkg:oci/app@${version}${more}` }, ...inGroup(group) });
      const statuses = await Promise.all(
        ["1", "2", "3", "4"].map(async (version) =>
          (await image(version)).body.advisories.map(({ status }: Json) => status),
        ),
      );
      assert.deepEqual(statuses, [
        ["PRODUCT_STATUS_AFFECTED"],
        ["PRODUCT_STATUS_NOT_AFFECTED"],
        ["PRODUCT_STATUS_UNDER_INVESTIGATION"],
        [],
      ]);
      assert.deepEqual((await image("1", "?repository_url=s.example")).body.advisories, []);
      const [advisory] = (await image("1")).body.advisories;
      const [statement] = advisory.statements;
      assert.equal(advisory.vulnerability, "CVE-2030-7");
      assert.deepEqual(
        [statement.source, statement.document, statement.action],
        ["vex", "https://vex.example.test/1", "update"],
      );
      assert.deepEqual([statement.subcomponents, statement.modifyTime], [["pkg:npm/part"], "2030-01-02T03:04:05.000Z"]);
      const found = async (version: string) =>
        ids((await osv(`/groups/${group}/v1/query`, { package: { purl: `pkg:oci/app@${version}` } })).body);
      assert.deepEqual(await Promise.all(["1", "2", "3", "4"].map(found)), [
        [`x_${advisory.advisoryId}`.replace("x_CGA", "CGA")],
        [],
        [],
        [],
      ]);
    });

    it("an advisory that was written with the API is found, too", async () => {
      const group = await addGroup(server, server.groupUid, "written");
      const advisory = create(AdvisorySchema, {
        advisoryId: "CGA-2222-2222-2222",
        author: "a",
        artifactName: "tool",
        artifactType: "apk",
        aliases: ["CVE-2030-9"],
        events: [{ reviewState: 2, type: { case: "fixed", value: { fixedVersion: "1.2.3-r0" } } }],
      });
      await arrange(server, (tx) => insertAdvisory(tx, group, advisory));
      const at = async (version: string) =>
        brief((await query({ query: { purl: `pkg:apk/wolfi/tool@${version}` }, ...inGroup(group) })).body);
      assert.deepEqual(await at("1.2.2-r9"), ["CGA-2222-2222-2222 affected 1.2.3-r0"]);
      assert.deepEqual(await at("1.2.3-r0"), ["CGA-2222-2222-2222 fixed 1.2.3-r0"]);
      const { body } = await osv(`/groups/${group}/v1/query`, {
        version: "1.2.2-r9",
        package: { ecosystem: "Wolfi", name: "tool" },
      });
      assert.deepEqual(ids(body), ["CGA-2222-2222-2222"]);
    });

    it("a caller finds what they may list, and nothing else", async () => {
      const [one, other] = [
        await addGroup(server, server.groupUid, "one"),
        await addGroup(server, server.groupUid, "other"),
      ];
      await importAll(one, readOsv, [lodash("GHSA-one")]);
      await importAll(other, readOsv, [lodash("GHSA-other"), lodash("GHSA-both")]);
      await importAll(one, readOsv, [lodash("GHSA-both")]);
      const viewer = await addCaller(server, one, viewerRole.uid);
      const stranger = await addCaller(server, await addGroup(server, null, "elsewhere"), viewerRole.uid);
      const asked = { version: "1.0.0", package: { ecosystem: "npm", name: "left" } };
      const seen = async (token: string, path = "") => ids((await osv(`${path}/v1/query`, asked, token)).body);
      assert.deepEqual(await seen(viewer.token), ["GHSA-both", "GHSA-one"]);
      assert.deepEqual(await seen(viewer.token, `/groups/${one}`), ["GHSA-both", "GHSA-one"]);
      assert.deepEqual(await seen(viewer.token, `/groups/${other}`), []);
      assert.deepEqual(await seen(stranger.token), []);
      const get = async (token: string, id: string) =>
        (await rest(server.url, token, "GET", `/gatehouse/osv/v1/vulns/${id}`)).status;
      assert.deepEqual([await get(viewer.token, "GHSA-one"), await get(viewer.token, "GHSA-other")], [200, 404]);
      const { body } = await query({ query: { purl: "pkg:npm/left@1.0.0" } }, viewer.token);
      assert.deepEqual(brief(body).sort(), ["GHSA-both affected 1.3.0", "GHSA-one affected 1.3.0"]);
    });

    it("an advisory of a YAML document is found in every distribution, under the id of its vulnerability", async () => {
      const group = await addGroup(server, server.groupUid, "melange");
      const events = [{ timestamp: "2030-01-02T03:04:05Z", type: "fixed", data: { "fixed-version": "1.2.3-r0" } }];
      const advisories = [{ id: "CGA-2345-6789-cfgh", aliases: ["CVE-2030-10"], events }];
      await importAll(group, readYamlAdvisories, { "schema-version": "2.0.2", package: { name: "tool" }, advisories });
      for (const name of ["wolfi/tool", "chainguard/tool", "tool"]) {
        const { body } = await query({ query: { purl: `pkg:apk/${name}@1.2.2-r0` }, ...inGroup(group) });
        assert.deepEqual(brief(body), ["CGA-2345-6789-cfgh affected 1.2.3-r0"], name);
        assert.equal(body.advisories[0].vulnerability, "CVE-2030-10");
      }
    });

    it("a search that is out of time leaves the rest to the next page", async () => {
      const asked = readPackage({ purl: "pkg:npm/left@1.0.0", ecosystem: "", name: "", version: "" });
      assert.ok(!("field" in asked));
      const search = {
        database: server.server.database,
        after: undefined,
        asked,
        sources: [{ type: "subtree", uid: server.groupUid } as const],
      };
      const find = (until: number) => searchPackage(search, 10, { ...newBudget(), until }, ({ row }) => [row.name]);
      assert.deepEqual(await find(0), { items: [], next: { key: 0, uid: "" } });
      assert.ok((await find(Number.POSITIVE_INFINITY)).items.length > 0);
    });

    it("pages and batches continue without losing or repeating anything", async () => {
      const group = await addGroup(server, server.groupUid, "pages");
      const all = Array.from({ length: 45 }, (_, i) => `GHSA-${i + 100}`);
      await importAll(
        group,
        readOsv,
        all.map((id) => lodash(id)),
      );
      const asked = { query: { purl: "pkg:npm/left@1.0.0" }, ...inGroup(group) };
      const found: string[] = [];
      let pageToken = "";
      let pages = 0;
      do {
        const { body } = await query({ ...asked, pageSize: 7, pageToken });
        found.push(...body.advisories.map(({ advisoryId }: Json) => advisoryId));
        pageToken = body.nextPageToken ?? "";
        pages++;
      } while (pageToken !== "");
      assert.deepEqual(found.sort(), all);
      assert.ok(pages >= 7);
      const { body: first } = await query({ ...asked, pageSize: 7 });
      const elsewhere = await query({
        query: { purl: "pkg:npm/left@2.0.0" },
        ...inGroup(group),
        pageToken: first.nextPageToken,
      });
      assert.equal(elsewhere.status, 400);
      const { body } = await post("/gatehouse/vulnerabilities/v1/affected:batchQuery", {
        queries: Array(3).fill(asked.query),
        ...inGroup(group),
      });
      assert.deepEqual(
        body.results.map(({ advisories }: Json) => advisories.length),
        [45, 45, 45],
      );
    });

    it("a commit is found where a record names it", async () => {
      const group = await addGroup(server, server.groupUid, "commits");
      const events = [
        { introduced: "aaaa000000000000000000000000000000000000" },
        { fixed: "bbbb000000000000000000000000000000000000" },
      ];
      const ranges = [{ type: "GIT", repo: "https://git.example.test/a.git", events }];
      await importAll(group, readOsv, [lodash("OSV-2030-1", { affected: [{ ranges }] })]);
      const find = async (commit: string) => ids((await osv(`/groups/${group}/v1/query`, { commit })).body);
      assert.deepEqual(await find("aaaa000000000000000000000000000000000000"), ["OSV-2030-1"]);
      assert.deepEqual(await find("bbbb000000000000000000000000000000000000"), []);
      assert.deepEqual(await find("cccc000000000000000000000000000000000000"), []);
    });

    it("invalid queries are rejected like those of OSV.dev", async () => {
      for (const [path, body] of [
        ["/v1/query", {}],
        ["/v1/query", { version: "1" }],
        ["/v1/query", { package: { name: "left" } }],
        ["/v1/query", { package: { ecosystem: "npm" } }],
        ["/v1/query", { package: { purl: "left" } }],
        ["/v1/query", { package: { purl: "pkg:npm/left", name: "left" } }],
        ["/v1/query", { version: "1", package: { purl: "pkg:npm/left@1" } }],
        ["/v1/query", { version: "1", commit: "aa" }],
        ["/v1/query", { package: { purl: "pkg:npm/left@1" }, page_token: "x" }],
        ["/v1/query", { package: { purl: "pkg:npm/left@1" }, pageToken: "x" }],
        ["/v1/querybatch", { queries: [{ package: { purl: "pkg:npm/left@1" } }, {}] }],
        ["/v1/querybatch", { queries: Array(1001).fill({ package: { purl: "pkg:npm/left@1" } }) }],
      ] as const) {
        const reply = await osv(path, body);
        assert.equal(reply.status, 400, JSON.stringify(body).slice(0, 100));
        assert.deepEqual([reply.body.code, typeof reply.body.message], [3, "string"]);
      }
      const missing = await rest(server.url, server.ownerToken, "GET", "/gatehouse/osv/v1/vulns/GHSA-missing");
      assert.deepEqual([missing.status, missing.body.code], [404, 5]);
    });

    it("clients that know no bearer tokens send the token as a password, here and nowhere else", async () => {
      const authorization = `Basic ${Buffer.from(`_token:${server.ownerToken}`).toString("base64")}`;
      const headers = { authorization, "content-type": "application/json" };
      const body = JSON.stringify({ package: { purl: "pkg:npm/left@1" } });
      const send = async (path: string, init: RequestInit) =>
        (await fetch(server.url + path, { ...init, headers })).status;
      assert.equal(await send("/gatehouse/osv/v1/query", { method: "POST", body }), 200);
      assert.equal(await send("/vulnerabilities/v2beta1/advisories", {}), 401);
      // Neither curl -d nor Python's requests say that they send JSON.
      for (const type of ["application/x-www-form-urlencoded", "text/plain"]) {
        const reply = await fetch(`${server.url}/gatehouse/osv/v1/query`, {
          method: "POST",
          body,
          headers: { authorization, "content-type": type },
        });
        assert.equal(reply.status, 200, type);
      }
    });
  });
}
