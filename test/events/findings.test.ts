// Events of findings that an advisory changes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import type { TestServer } from "../harness/server.ts";
import { critical, findingsOn, type Json, osv } from "../registry/finding-harness.ts";
import { imageDigest } from "../sboms/documents.ts";
import { addGroup } from "../security/tree.ts";
import { openSink, type Received, type Sink, startSendingServer } from "./sink.ts";

const type = "dev.gatehouse.registry.finding.v1";
const isFinding = ({ headers }: Received) => headers["ce-type"] === type;

after(stopPostgres);

for (const database of databases) {
  describe(`events of findings (${database})`, () => {
    let server: TestServer;
    let sink: Sink;
    let expected = 0;
    let { call, importAll, importAsIs, newImage, become } = {} as ReturnType<typeof findingsOn>;
    before(async () => {
      server = await startSendingServer({ database });
      sink = await openSink();
      ({ call, importAll, importAsIs, newImage, become } = findingsOn(server));
      const { status } = await call("POST", `/events/v2beta1/subscriptions/${server.groupUid}`, { sink: sink.url });
      assert.equal(status, 200);
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    });

    /** Returns the events of findings that have come since it was asked last, of which there must be so many. */
    async function next(count: number): Promise<Received[]> {
      const received = (await sink.wait(expected + count, isFinding)).slice(expected);
      assert.equal(received.length, count);
      expected += count;
      return received;
    }

    const bodyOf = ({ body }: Received): Json => JSON.parse(body).body;

    const purl = "pkg:npm/told@1.5.0";

    it("one changed advisory is one signed event for each repo that has an affected image", async () => {
      const group = await addGroup(server, server.groupUid, "told");
      const images = [await newImage(group, "one", [purl]), await newImage(group, "two", [purl])];
      await newImage(group, "other", ["pkg:npm/other@1.0.0"]);
      for (const { list } of images) await become(() => list(), []);
      await importAll(group, osv("A-1", "told", "2.0.0", critical));
      const received = await next(2);
      const [first] = received.toSorted((a, b) => String(bodyOf(a).repoName).localeCompare(String(bodyOf(b).repoName)));
      const { advisoryUid, ...shown } = bodyOf(first!);
      assert.ok(String(advisoryUid).startsWith(group));
      assert.deepEqual(shown, {
        repoUid: images[0]!.uid,
        repoName: "one",
        advisoryId: "A-1",
        vulnerability: "A-1",
        aliases: ["CVE-A-1"],
        severity: "VULNERABILITY_SEVERITY_CRITICAL",
        status: "PRODUCT_STATUS_AFFECTED",
        purls: [purl],
        digests: [imageDigest],
        digestCount: 1,
      });
      const { headers, body } = first!;
      assert.deepEqual(
        [headers["ce-subject"], headers["ce-group"], headers["ce-bodytype"]],
        [images[0]!.uid, group, "gatehouse.registry.v1.FindingChange"],
      );
      const claims = decodeJwt(String(headers.authorization).replace("Bearer ", ""));
      const digest = createHash("sha256").update(body).digest("hex");
      assert.deepEqual((claims.webhook as Json).digest, `sha256:${digest}`);
      assert.deepEqual(new Set(received.map((each) => bodyOf(each).repoName)), new Set(["one", "two"]));
    });

    it("the same import twice causes no event, and a changed status causes the next one", async () => {
      const group = await addGroup(server, server.groupUid, "twice");
      const image = await newImage(group, "shop", [purl]);
      await become(() => image.list(), []);
      const document = { ...osv("B-1", "told", "2.0.0"), modified: "2030-02-01T00:00:00Z" };
      await importAsIs(group, document);
      await next(1);
      await importAsIs(group, document);
      // Changes the advisory, and no status.
      await importAsIs(group, { ...document, modified: "2030-02-02T00:00:00Z", details: "More is known." });
      await importAsIs(group, { ...osv("B-1", "told", "1.2.0"), modified: "2030-02-03T00:00:00Z" });
      // Events come in the order of the changes: one of an earlier import would be before this one.
      const [changed] = await next(1);
      const { previousStatus, status } = bodyOf(changed!);
      assert.deepEqual([previousStatus, status], ["PRODUCT_STATUS_AFFECTED", "PRODUCT_STATUS_FIXED"]);
    });

    it("a withdrawn advisory causes an event, and a new image does not", async () => {
      const group = await addGroup(server, server.groupUid, "withdrawn");
      const old = await newImage(group, "old", [purl]);
      await become(() => old.list(), []);
      await importAll(group, osv("C-1", "told", "2.0.0"));
      await next(1);
      const shop = await newImage(group, "shop", [purl]);
      await become(() => shop.list(), [`C-1 ${purl}`]);
      await importAll(group, osv("C-1", "told", "2.0.0", { withdrawn: "2030-01-03T00:00:00Z" }));
      // An event of the new image would be among them.
      for (const gone of await next(2)) {
        const { advisoryId, previousStatus, status } = bodyOf(gone);
        assert.deepEqual([advisoryId, previousStatus, status], ["C-1", "PRODUCT_STATUS_AFFECTED", undefined]);
      }
    });

    it("statements about an image keep its events from being sent", async () => {
      const group = await addGroup(server, server.groupUid, "stated");
      const images = [await newImage(group, "quiet", [purl]), await newImage(group, "loud", [purl])];
      for (const { list } of images) await become(() => list(), []);
      await importAsIs(group, {
        "@context": "https://openvex.dev/ns/v0.2.0",
        "@id": "https://example.com/vex/1",
        author: "acme",
        timestamp: "2030-01-01T00:00:00Z",
        version: 1,
        statements: [
          {
            vulnerability: { name: "CVE-D-1" },
            products: [{ "@id": "pkg:oci/quiet", subcomponents: [{ "@id": purl }] }],
            status: "not_affected",
            justification: "component_not_present",
          },
        ],
      });
      await importAll(group, osv("D-1", "told", "2.0.0"));
      const [loud] = await next(1);
      assert.equal(bodyOf(loud!).repoName, "loud");
    });
  });
}
