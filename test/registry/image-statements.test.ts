// Statements of OpenVEX about images override what advisories say about their packages.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { imageDigest } from "../sboms/documents.ts";
import { addGroup } from "../security/tree.ts";
import { findingsOn, type Json, osv } from "./finding-harness.ts";

after(stopPostgres);

const otherDigest = `sha256:${"b".repeat(64)}`;

interface Said {
  readonly vulnerability: string;
  readonly product: string;
  readonly parts?: readonly string[];
  readonly status?: string;
  readonly day?: number;
  readonly document?: string;
}

/** Returns an OpenVEX document about a product; `day` is that of January 2030 from which its statement is. */
function vex({ vulnerability, product, parts = [], status = "not_affected", day = 1, document = "1" }: Said): Json {
  const timestamp = new Date(Date.UTC(2030, 0, day)).toISOString();
  const subcomponents = parts.map((id) => ({ "@id": id }));
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `https://example.com/vex/${vulnerability}/${document}`,
    author: "acme",
    timestamp,
    version: day,
    statements: [
      {
        vulnerability: { name: vulnerability },
        timestamp,
        products: [{ "@id": product, ...(parts.length > 0 && { subcomponents }) }],
        status,
        ...(status === "not_affected" && { justification: "vulnerable_code_not_in_execute_path" }),
        ...(status === "affected" && { action_statement: "update" }),
      },
    ],
  };
}

for (const database of databases) {
  describe(`statements about images on ${database}`, () => {
    let server: TestServer;
    let { call, importAll, importAsIs, newImage, become } = {} as ReturnType<typeof findingsOn>;
    before(async () => {
      server = await startTestServer({ database });
      ({ call, importAll, importAsIs, newImage, become } = findingsOn(server));
    });
    after(() => server[Symbol.asyncDispose]());

    const affected = async (query: string): Promise<string[]> =>
      ((await call("GET", `/gatehouse/registry/v1/affectedImages?${query}`)).body.images as Json[]).map(
        ({ repoName }) => String(repoName),
      );

    const left = "pkg:npm/left@1.5.0";

    it("a statement about a part of an image overrides the status of its vulnerability, and names its record", async () => {
      const group = await addGroup(server, server.groupUid, "parts");
      await importAll(group, osv("A-1", "left", "2.0.0"), osv("A-2", "left", "2.0.0"), osv("A-3", "left", "1.0.0"));
      const [shop, store] = [await newImage(group, "shop", [left]), await newImage(group, "store", [left])];
      const both = [`A-1 ${left}`, `A-2 ${left}`];
      await become(() => shop.list(), both);
      await become(() => store.list(), both);
      await importAsIs(group, vex({ vulnerability: "CVE-A-1", product: "pkg:oci/shop", parts: [left] }));
      await become(() => shop.list(), [`A-2 ${left}`]);
      await become(() => store.list(), both);
      assert.deepEqual(
        [(await shop.list()).counts.total, (await store.list()).counts.total, await affected("vulnerability=A-1")],
        [1, 2, ["store"]],
      );
      const { findings } = await shop.list("&statuses=PRODUCT_STATUS_NOT_AFFECTED");
      assert.deepEqual(
        findings.map(({ vulnerability, justification, imageStatement }: Json) => [
          vulnerability,
          justification,
          imageStatement,
        ]),
        [["A-1", "vulnerable_code_not_in_execute_path", "acme: https://example.com/vex/CVE-A-1/1"]],
      );
      // The advisory says that the version is fixed.
      await importAsIs(
        group,
        vex({ vulnerability: "A-3", product: "pkg:oci/shop", parts: [left], status: "affected" }),
      );
      await become(() => shop.list(), [`A-2 ${left}`, `A-3 ${left}`]);
      assert.deepEqual(await affected("vulnerability=CVE-A-3"), ["shop"]);
    });

    it("a later statement replaces an earlier one, and deleting the record restores the status", async () => {
      const group = await addGroup(server, server.groupUid, "changed");
      await importAll(group, osv("B-1", "left", "2.0.0"));
      const image = await newImage(group, "changed", [left]);
      const said = { vulnerability: "CVE-B-1", product: "pkg:oci/changed", parts: [left] };
      await importAsIs(group, vex(said));
      await become(() => image.list(), []);
      await importAsIs(group, vex({ ...said, status: "under_investigation", day: 2 }));
      await become(() => image.list(), [`B-1 ${left}`]);
      assert.equal((await image.list()).findings[0].status, "PRODUCT_STATUS_UNDER_INVESTIGATION");
      await importAsIs(group, vex({ ...said, day: 3 }));
      await become(() => image.list(), []);
      const { records } = (await call("GET", `/gatehouse/vulnerabilities/v1/records/${group}?source=acme`)).body;
      const { source, document, vulnerability } = records[0];
      const deleted = { records: [{ source, document, vulnerability }] };
      const { status } = await call("POST", `/gatehouse/vulnerabilities/v1/records/${group}:batchDelete`, deleted);
      assert.equal(status, 200);
      await become(() => image.list(), [`B-1 ${left}`]);
      assert.equal((await image.list()).findings[0].imageStatement ?? "", "");
    });

    it("name, address, digest, architecture and package must agree as far as they are given", async () => {
      const group = await addGroup(server, server.groupUid, "agreeing");
      await importAll(group, osv("C-1", "left", "2.0.0"));
      const image = await newImage(group, "exact", [left]);
      const open = [`C-1 ${left}`];
      await become(() => image.list(), open);
      const { host, name } = (await call("GET", `/gatehouse/registry/v1/repositories/${image.uid}`)).body;
      const at = (address: string) => `repository_url=${encodeURIComponent(address)}`;
      const digest = (text: string) => encodeURIComponent(text);
      const cases: readonly (readonly [product: string, parts: readonly string[], isAbout: boolean])[] = [
        ["pkg:oci/exact", [], true],
        ["pkg:oci/other", [], false],
        ["pkg:oci/exact", ["pkg:npm/left"], true],
        ["pkg:oci/exact", ["pkg:npm/left@1.5.1"], false],
        ["pkg:oci/exact", ["pkg:npm/right", "pkg:npm/left@1.5.0"], true],
        ["pkg:oci/exact", ["pkg:pypi/left"], false],
        ["pkg:oci/exact", ["pkg:npm/%40acme/left"], false],
        [`pkg:oci/exact@${digest(imageDigest)}`, [], true],
        [`pkg:oci/exact@${digest(otherDigest)}`, [], false],
        ["pkg:oci/exact?tag=1.0", [], false],
        [`pkg:oci/exact@${digest(imageDigest)}?tag=0.9`, [], true],
        [`pkg:oci/exact?${at(`${host}/${name}`)}`, ["pkg:npm/left"], true],
        [`pkg:oci/exact?${at(`${host}/elsewhere/exact`)}`, ["pkg:npm/left"], false],
        [`pkg:oci/exact?${at(`ghcr.io/${name}`)}`, ["pkg:npm/left"], false],
      ];
      const problems: string[] = [];
      for (const [i, [product, parts, isAbout]] of cases.entries()) {
        const document = `${i}`;
        await importAsIs(group, vex({ vulnerability: "CVE-C-1", product, parts, document }));
        const { findings } = await image.list();
        if ((findings.length === 0) !== isAbout) problems.push(`${product} ${parts}: ${JSON.stringify(findings)}`);
        const key = {
          source: "acme",
          document: `https://example.com/vex/CVE-C-1/${document}`,
          vulnerability: "CVE-C-1",
        };
        await call("POST", `/gatehouse/vulnerabilities/v1/records/${group}:batchDelete`, { records: [key] });
        assert.equal((await image.list()).findings.length, 1, product);
      }
      assert.deepEqual(problems, []);
    });

    it("statements apply to the repos of their group and below", async () => {
      const top = await addGroup(server, server.groupUid, "statements");
      const [a, b] = [await addGroup(server, top, "a"), await addGroup(server, top, "b")];
      await importAll(top, osv("D-1", "left", "2.0.0"));
      const images = [await newImage(a, "same", [left]), await newImage(b, "same", [left])] as const;
      for (const { list } of images) await become(() => list(), [`D-1 ${left}`]);
      await importAsIs(a, vex({ vulnerability: "CVE-D-1", product: "pkg:oci/same", parts: [left] }));
      await become(() => images[0].list(), []);
      await become(() => images[1].list(), [`D-1 ${left}`]);
      assert.deepEqual(await affected(`vulnerability=D-1&parent=${top}`), ["same"]);
      await importAsIs(top, vex({ vulnerability: "D-1", product: "pkg:oci/same", parts: [left], document: "2" }));
      await become(() => images[1].list(), []);
      assert.deepEqual(await affected(`vulnerability=D-1&parent=${top}`), []);
    });

    it("pages have every finding once, with those that statements override", async () => {
      const group = await addGroup(server, server.groupUid, "paged");
      const purls = Array.from({ length: 8 }, (_, i) => `pkg:npm/paged-${i}@1.0.0`);
      await importAll(group, ...purls.map((_, i) => osv(`E-${i}`, `paged-${i}`, "2.0.0")));
      const image = await newImage(group, "paged", purls);
      await become(
        () => image.list(),
        purls.map((purl, i) => `E-${i} ${purl}`),
      );
      for (const i of [1, 2, 5])
        await importAsIs(group, vex({ vulnerability: `E-${i}`, product: "pkg:oci/paged", parts: [purls[i]!] }));
      const found: string[] = [];
      let token = "";
      do {
        const page = await image.list(`&page_size=2&page_token=${encodeURIComponent(token)}`);
        found.push(...page.findings.map(({ vulnerability }: Json) => String(vulnerability)));
        token = page.nextPageToken ?? "";
      } while (token !== "");
      assert.deepEqual(found, ["E-0", "E-3", "E-4", "E-6", "E-7"]);
    });
  });
}
