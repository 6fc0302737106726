// What advisories say about the packages of images: stored once for each package and advisory, and kept up to date.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ProductStatus } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { contentLimits } from "../../src/services/registry/contents/limits.ts";
import { findPackagesFor, putFinding } from "../../src/storage/images/findings.ts";
import { openImages } from "../../src/storage/images/images.ts";
import { addImagePackages, openPackages } from "../../src/storage/images/packages.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { until } from "../harness/until.ts";
import { imageDigest } from "../sboms/documents.ts";
import { addCaller, addGroup, arrange, viewerRole } from "../security/tree.ts";
import { critical, findingsOn, type Json, osv } from "./finding-harness.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`findings of images on ${database}`, () => {
    let server: TestServer;
    let ahead = 0;
    let { call, importAll, newImage, become } = {} as ReturnType<typeof findingsOn>;
    before(async () => {
      server = await startTestServer({ database, clock: () => Date.now() + ahead });
      ({ call, importAll, newImage, become } = findingsOn(server));
    });
    after(() => server[Symbol.asyncDispose]());

    it("lists the findings of an image, the most severe first, with counts", async () => {
      const group = await addGroup(server, server.groupUid, "first");
      await importAll(
        group,
        osv("A-1", "left", "2.0.0"),
        osv("A-2", "right", "2.0.0", critical),
        osv("A-3", "left", "1.0.0"),
      );
      const image = await newImage(group, "shop", ["pkg:npm/left@1.5.0", "pkg:npm/right@1.0.0", "pkg:npm/other@1.0.0"]);
      await become(() => image.list(), ["A-2 pkg:npm/right@1.0.0", "A-1 pkg:npm/left@1.5.0"]);
      const { findings, counts, packageCount } = await image.list();
      const { advisoryUid, firstKnownTime, ...first } = findings[0];
      assert.ok(advisoryUid.startsWith(group) && firstKnownTime);
      assert.deepEqual(first, {
        advisoryId: "A-2",
        vulnerability: "A-2",
        aliases: ["CVE-A-2"],
        status: "PRODUCT_STATUS_AFFECTED",
        severity: "VULNERABILITY_SEVERITY_CRITICAL",
        purl: "pkg:npm/right@1.0.0",
        fixedVersions: ["2.0.0"],
        uncertain: false,
        digests: [imageDigest],
      });
      assert.deepEqual([counts, packageCount], [{ total: 2, critical: 1, high: 0, medium: 0, low: 0, unknown: 1 }, 3]);
      assert.equal((await image.list("&min_severity=VULNERABILITY_SEVERITY_HIGH")).findings.length, 1);
      assert.equal((await image.list("&package=pkg:npm/left")).findings.length, 1);
      const all = [1, 2, 3, 4].map((status) => `&statuses=${status}`).join("");
      const known = (await image.list(all)).findings.map(({ advisoryId, status }: Json) => `${advisoryId} ${status}`);
      assert.deepEqual(known.slice(0, 2), ["A-2 PRODUCT_STATUS_AFFECTED", "A-1 PRODUCT_STATUS_AFFECTED"]);
      assert.match(known[2], /^A-3 PRODUCT_STATUS_FIXED$/, JSON.stringify(known));
      const page = await image.list("&page_size=1");
      const next = await image.list(`&page_size=1&page_token=${page.nextPageToken}`);
      assert.deepEqual(
        [page.findings[0].advisoryId, next.findings[0].advisoryId, next.nextPageToken ?? ""],
        ["A-2", "A-1", ""],
      );
    });

    it("an image is checked only with what the last change of an advisory says", async () => {
      const group = await addGroup(server, server.groupUid, "last-change");
      const image = await newImage(group, "shop", ["pkg:npm/last@1.5.0"]);
      await become(() => image.list(), []);
      for (const fixed of ["2.0.0", "1.4.0", "2.1.0", "1.3.0"]) {
        await importAll(group, osv("L-1", "last", fixed));
        const { findings = [] } = await until("a checked image", async () => {
          const listed = await image.list();
          return listed.state === "CHECK_STATE_CHECKED" ? listed : undefined;
        });
        assert.deepEqual(
          findings.map(({ fixedVersions }: Json) => fixedVersions),
          fixed.startsWith("2") ? [[fixed]] : [],
        );
      }
    });

    it("follows advisories that are added, changed and deleted", async () => {
      const group = await addGroup(server, server.groupUid, "following");
      const image = await newImage(group, "shop", ["pkg:npm/followed@1.5.0"]);
      await become(() => image.list(), []);
      await importAll(group, osv("B-1", "followed", "2.0.0"));
      await become(() => image.list(), ["B-1 pkg:npm/followed@1.5.0"]);
      // Only the range changes.
      await importAll(group, osv("B-1", "followed", "1.4.0"));
      await become(() => image.list(), []);
      await importAll(group, osv("B-1", "followed", "1.6.0"));
      await become(() => image.list(), ["B-1 pkg:npm/followed@1.5.0"]);
      await importAll(group, osv("B-1", "renamed", "1.6.0"));
      await become(() => image.list(), []);
      await importAll(group, osv("B-1", "followed", "1.6.0"));
      await become(() => image.list(), ["B-1 pkg:npm/followed@1.5.0"]);
      await importAll(group, osv("B-1", "followed", "1.6.0", { withdrawn: "2030-01-03T00:00:00Z" }));
      await become(() => image.list(), []);
    });

    it("follows changes of a record that the advisory itself does not show", async () => {
      const group = await addGroup(server, server.groupUid, "unseen-changes");
      const purls = ["pkg:deb/debian/openssl@0.9?distro=debian-9", "pkg:npm/left@1.5.0"];
      const image = await newImage(group, "shop", purls);
      const published = "2025-01-01T00:00:00Z";
      const left = (introduced: string) => ({
        package: { ecosystem: "npm", name: "left" },
        ranges: [{ type: "SEMVER", events: [{ introduced }, { fixed: "2.0.0" }] }],
      });
      const openssl = (release: string) => ({
        package: { ecosystem: `Debian:${release}`, name: "openssl" },
        ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "1.0" }] }],
      });
      const record = (id: string, ...affected: object[]) => ({ id, published, affected });
      await importAll(group, record("N-1", left("0")), record("N-2", openssl("5"), openssl("6")));
      await become(() => image.list(), ["N-1 pkg:npm/left@1.5.0"]);
      // Where the range begins, and the release of one of two statements.
      await importAll(group, record("N-1", left("1.9.0")), record("N-2", openssl("9"), openssl("6")));
      await become(() => image.list(), [`N-2 ${purls[0]}`]);
      await importAll(group, record("N-2", openssl("6")), record("N-1", left("1.0.0")));
      await become(() => image.list(), ["N-1 pkg:npm/left@1.5.0"]);
    });

    it("an advisory applies to the repos of its group and below, for every caller alike", async () => {
      const top = await addGroup(server, server.groupUid, "top");
      const [left, right] = [await addGroup(server, top, "left"), await addGroup(server, top, "right")];
      const purls = ["pkg:npm/shared@1.0.0"];
      const [a, b] = [await newImage(left, "shop", purls), await newImage(right, "shop", purls)];
      await importAll(top, osv("C-1", "shared", "2.0.0"));
      await importAll(left, osv("C-2", "shared", "2.0.0"));
      await become(() => a.list(), ["C-1 pkg:npm/shared@1.0.0", "C-2 pkg:npm/shared@1.0.0"]);
      await become(() => b.list(), ["C-1 pkg:npm/shared@1.0.0"]);
      const viewer = await addCaller(server, left, viewerRole.uid);
      const findings = (await a.list("", viewer.token)).findings;
      assert.equal(findings.length, 2);
      const found = await call(
        "GET",
        "/gatehouse/registry/v1/affectedImages?vulnerability=CVE-C-1",
        undefined,
        viewer.token,
      );
      assert.deepEqual(
        found.body.images.map(({ repoUid, tags }: Json) => [repoUid, tags]),
        [[a.uid, ["1.0"]]],
      );
    });

    it("lists the images of a vulnerability, an advisory and a package", async () => {
      const group = await addGroup(server, server.groupUid, "affected");
      await importAll(group, osv("D-1", "spread", "2.0.0"));
      const images = await Promise.all(
        ["one", "two", "three"].map((name) => newImage(group, name, ["pkg:npm/spread@1.0.0", `pkg:npm/${name}@1.0.0`])),
      );
      for (const { list } of images) await become(() => list(), ["D-1 pkg:npm/spread@1.0.0"]);
      const { advisoryUid } = (await images[0]!.list()).findings[0];
      const ask = async (query: string) => (await call("GET", `/gatehouse/registry/v1/affectedImages?${query}`)).body;
      for (const query of [
        "vulnerability=D-1",
        "vulnerability=CVE-D-1",
        `advisory_uid=${advisoryUid}`,
        "purl=pkg:npm/spread",
      ]) {
        const found = await ask(query);
        assert.equal(found.images.length, 3, query);
        assert.deepEqual(found.images[0].purls, ["pkg:npm/spread@1.0.0"]);
      }
      const first = await ask("vulnerability=D-1&page_size=2");
      const second = await ask(`vulnerability=D-1&page_size=2&page_token=${first.nextPageToken}`);
      assert.deepEqual([first.images.length, second.images.length], [2, 1]);
      assert.deepEqual((await ask("vulnerability=CVE-NONE")).images, []);
      assert.equal((await ask("page_size=1")).code, 3);
      assert.deepEqual((await ask(`vulnerability=D-1&parent=${server.groupUid}/${"f".repeat(16)}`)).images, []);
    });

    it("a page of affected images ends after many images without a tag, and the next one goes on", async () => {
      const group = await addGroup(server, server.groupUid, "without-tags");
      const purl = "pkg:npm/untagged@1.0.0";
      await importAll(group, osv("U-1", "untagged", "2.0.0"));
      const image = await newImage(group, "many", [purl]);
      await become(() => image.list(), [`U-1 ${purl}`]);
      const { examinedImages } = contentLimits;
      await arrange(server, async (tx) => {
        const digests = Array.from({ length: examinedImages }, (_, i) => `sha256:${i.toString().padStart(64, "0")}`);
        const packages = await openPackages(tx, server.groupUid, [{ purl, keys: [] }]);
        for (const no of (await openImages(tx, image.uid, digests)).values())
          await addImagePackages(tx, no, 1, [...packages.values()]);
      });
      const pages: number[] = [];
      for (let pageToken = ""; pages.length === 0 || pageToken !== ""; ) {
        const query = `vulnerability=U-1&page_token=${pageToken}`;
        const { body } = await call("GET", `/gatehouse/registry/v1/affectedImages?${query}`);
        pages.push(body.images.length);
        pageToken = body.nextPageToken ?? "";
      }
      assert.deepEqual([pages.length, pages.reduce((sum, count) => sum + count, 0)], [2, 1]);
    });

    it("all packages of the images of a group are compared again by hand, and no others", async () => {
      const group = await addGroup(server, server.groupUid, "evaluated");
      const [inside, outside] = [await addGroup(server, group, "inside"), await addGroup(server, group, "outside")];
      await importAll(group, osv("F-1", "again", "2.0.0"));
      const purls = ["pkg:npm/again@1.0.0", "pkg:npm/again@1.1.0"];
      const [a, b] = [await newImage(inside, "a", purls), await newImage(outside, "b", ["pkg:npm/again@1.2.0"])];
      const found = purls.map((purl) => `F-1 ${purl}`);
      await become(() => a.list(), found);
      await become(() => b.list(), ["F-1 pkg:npm/again@1.2.0"]);
      const evaluate = async (parent: string) =>
        (await call("POST", `/gatehouse/registry/v1/images/${parent}:evaluate`, {})).body;
      assert.equal((await evaluate(inside)).packageCount, 2);
      assert.equal((await b.list()).state, "CHECK_STATE_CHECKED");
      // Findings stay meanwhile.
      assert.equal((await a.list()).findings.length, 2);
      await become(() => a.list(), found);
    });

    it("a package that is compared again loses a finding that no advisory gives, and keeps the others with their times", async () => {
      const group = await addGroup(server, server.groupUid, "stale");
      await importAll(group, osv("G-1", "kept", "2.0.0"), osv("G-2", "unrelated", "2.0.0"));
      const image = await newImage(group, "shop", ["pkg:npm/kept@1.0.0"]);
      await become(() => image.list(), ["G-1 pkg:npm/kept@1.0.0"]);
      const [known] = (await image.list()).findings;
      const { body } = await call("GET", `/vulnerabilities/v2beta1/advisories?uidp.descendantsOf=${group}`);
      const { uid } = body.advisories.find(({ advisoryId }: Json) => advisoryId === "G-2");
      const finding = { advisoryUid: uid, groupUid: group, status: ProductStatus.AFFECTED, vulnerability: "G-2" };
      const details = { fixedVersions: [], uncertain: false, justification: "", firstKnownTime: 0 };
      await arrange(server, async (tx) => {
        const search = { advisoryUid: known.advisoryUid, keys: [], after: 0, limit: 1 };
        const [row] = await findPackagesFor(tx, search);
        await putFinding(tx, { package: row!.no, ...finding, ...details });
      });
      await become(() => image.list(), ["G-1 pkg:npm/kept@1.0.0", "G-2 pkg:npm/kept@1.0.0"]);
      await call("POST", `/gatehouse/registry/v1/images/${group}:evaluate`, {});
      await become(() => image.list(), ["G-1 pkg:npm/kept@1.0.0"]);
      assert.deepEqual((await image.list()).findings, [known]);
    });

    it("a new advisory is compared with all packages that it is about, also if one write stores only a part of them", async () => {
      const group = await addGroup(server, server.groupUid, "many");
      const purls = Array.from({ length: contentLimits.portion + 1 }, (_, i) => `pkg:npm/many@1.0.${i}`);
      const image = await newImage(group, "shop", purls);
      await become(() => image.list(), []);
      await importAll(group, osv("H-1", "many", "2.0.0"));
      await until("findings of all packages", async () => {
        const { counts } = await image.list("&page_size=1");
        return counts?.total === purls.length || undefined;
      });
    });

    it("stored findings are those of BatchQueryAffected, also after changes", async () => {
      const group = await addGroup(server, server.groupUid, "compared");
      const names = Array.from({ length: 12 }, (_, i) => `random-${i}`);
      const draw = (most: number) => Math.floor(Math.random() * most);
      const record = (i: number) =>
        osv(`E-${i}`, names[draw(names.length)]!, `${1 + draw(3)}.${draw(3)}.0`, draw(2) ? critical : {});
      await importAll(group, ...Array.from({ length: 60 }, (_, i) => record(i)));
      const purls = names.flatMap((name) => ["1.0.0", "1.1.5", "2.2.0"].map((version) => `pkg:npm/${name}@${version}`));
      const image = await newImage(group, "all", purls);
      for (let round = 0; round < 3; round++) {
        await importAll(group, ...Array.from({ length: 20 }, (_, i) => record(20 * round + 10 + i)));
        ahead += 170_000;
        const queries = purls.map((purl) => ({ purl }));
        const uidp = { descendantsOf: group };
        const { results } = (await call("POST", "/gatehouse/vulnerabilities/v1/affected:batchQuery", { queries, uidp }))
          .body;
        const expected = (results as { advisories: Json[] }[]).flatMap(({ advisories }, i) =>
          advisories
            .filter(({ status }) => status === "PRODUCT_STATUS_AFFECTED")
            .map(({ advisoryId, fixedVersions }) => `${advisoryId} ${purls[i]} ${fixedVersions}`),
        );
        await until("equal findings", async () => {
          const found: string[] = [];
          let token = "";
          do {
            const page = await image.list(`&page_size=200&page_token=${token}`);
            for (const { advisoryId, purl, fixedVersions } of page.findings)
              found.push(`${advisoryId} ${purl} ${fixedVersions}`);
            token = page.nextPageToken ?? "";
          } while (token !== "");
          return JSON.stringify(found.sort()) === JSON.stringify(expected.sort()) ? true : undefined;
        });
      }
    });
  });
}
