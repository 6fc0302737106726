// The archives of osv-scanner over HTTP: who gets them, what is in them, and when they are sent again.
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { fromBufferPromise } from "yauzl";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addCaller, addGroup, operatorRole, viewerRole } from "../security/tree.ts";

after(stopPostgres);

const record = (id: string, products: readonly (readonly [ecosystem: string, name: string, release?: string])[]) => ({
  source: "osv",
  document: id,
  vulnerability: id,
  advisoryId: id,
  format: "RECORD_FORMAT_OSV",
  modifyTime: "2026-01-01T00:00:00Z",
  extra: '{"unknown":1,"summary":"s"}',
  statements: products.map(([ecosystem, name, release = ""]) => ({
    product: { ecosystem, name },
    release,
    status: "PRODUCT_STATUS_AFFECTED",
    versions: ["1.0.0"],
  })),
});

for (const database of databases) {
  describe(`archives of osv-scanner on ${database}`, () => {
    let server: TestServer;
    let group: string;
    let below: string;
    let operator: string;
    before(async () => {
      server = await startTestServer({ database });
      group = await addGroup(server, server.groupUid, "feed");
      below = await addGroup(server, group, "below");
      operator = (await addCaller(server, group, operatorRole.uid)).token;
      await add(
        group,
        record("GO-1", [["Go", "m"]]),
        record("GHSA-1", [
          ["npm", "left"],
          ["Debian", "left", "12"],
        ]),
      );
      await add(below, record("GO-2", [["Go", "n"]]), record("ALPINE-1", [["Rocky Linux", "n"]]));
    });
    after(() => server[Symbol.asyncDispose]());

    const add = async (parent: string, ...records: readonly object[]) => {
      const path = `/gatehouse/vulnerabilities/v1/records/${parent}:import`;
      const { status, body } = await rest(server.url, operator, "POST", path, { records });
      assert.equal(status, 200, JSON.stringify(body));
    };
    const get = async (uid: string, file: string, headers: Readonly<Record<string, string>> = {}, method = "GET") => {
      const authorization = `Bearer ${server.ownerToken}`;
      const url = `${server.url}/gatehouse/osv/groups/${uid}/${file}`;
      const reply = await fetch(url, { method, headers: { authorization, ...headers } });
      return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
    };
    const filesOf = async (bytes: Buffer) => {
      const zip = await fromBufferPromise(bytes, { validateEntrySizes: true });
      const found: Record<string, { readonly id: string; readonly unknown?: unknown }> = {};
      for await (const entry of zip.eachEntry())
        found[entry.fileName] = JSON.parse(await text(await zip.openReadStreamPromise(entry)));
      return found;
    };

    it("an archive has the records of one ecosystem in all its releases, of a group and its subgroups, by the published schema", async () => {
      const { status, headers, bytes } = await get(group, "Go/all.zip");
      assert.deepEqual([status, headers.get("content-type")], [200, "application/zip"], String(bytes));
      const files = await filesOf(bytes);
      assert.deepEqual(Object.keys(files), ["GO-1.json", "GO-2.json"]);
      assert.deepEqual(Object.keys(files["GO-1.json"]!).includes("unknown"), false);
      assert.deepEqual(Object.keys(await filesOf((await get(below, "Go/all.zip")).bytes)), ["GO-2.json"]);
      assert.deepEqual(Object.keys(await filesOf((await get(group, "Debian/all.zip")).bytes)), ["GHSA-1.json"]);
      const encoded = await get(encodeURIComponent(group), "Rocky%20Linux/all.zip");
      assert.deepEqual(Object.keys(await filesOf(encoded.bytes)), ["ALPINE-1.json"]);
    });

    it("an archive without records is an empty archive", async () => {
      const { status, bytes } = await get(group, "PyPI/all.zip");
      assert.deepEqual([status, await filesOf(bytes)], [200, {}]);
    });

    it("ecosystems.txt lists the archives that have records", async () => {
      const { status, headers, bytes } = await get(group, "ecosystems.txt");
      assert.deepEqual([status, headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
      assert.deepEqual(String(bytes).split("\n").sort(), ["", "Debian", "Go", "Rocky Linux", "npm"]);
      assert.equal(String((await get(below, "ecosystems.txt")).bytes).split("\n").length, 3);
    });

    it("the API of OSV.dev for a group stays at its paths", async () => {
      const { status, bytes } = await get(group, "v1/vulns/GO-1");
      assert.deepEqual([status, JSON.parse(String(bytes)).id], [200, "GO-1"]);
      assert.equal(JSON.parse(String((await get(group, "v1/vulns/all.zip")).bytes)).code, 5);
    });

    it("archives are not sent again until an advisory changes", async () => {
      const etags = [];
      for (const file of ["Go/all.zip", "npm/all.zip", "ecosystems.txt"]) {
        const etag = (await get(group, file, {}, "HEAD")).headers.get("etag")!;
        assert.match(etag, /^W\/"[\w-]{22}"$/);
        const again = await get(group, file, { "if-none-match": etag });
        assert.deepEqual([again.status, again.bytes.length], [304, 0]);
        etags.push(etag);
      }
      assert.equal(new Set(etags).size, 3);
      await add(below, record("GO-3", [["Go", "n"]]));
      const changed = await get(group, "Go/all.zip", { "if-none-match": etags[0]! });
      assert.equal(changed.status, 200);
      assert.ok("GO-3.json" in (await filesOf(changed.bytes)));
    });

    it("the password of the user _token may be the token", async () => {
      const viewer = await addCaller(server, group, viewerRole.uid);
      const basic = (user: string) => ({
        authorization: `Basic ${Buffer.from(`${user}:${viewer.token}`).toString("base64")}`,
      });
      assert.equal((await get(group, "Go/all.zip", basic("_token"))).status, 200);
      const other = await get(group, "Go/all.zip", basic("someone"));
      assert.deepEqual([other.status, other.headers.get("www-authenticate")], [401, "Bearer"]);
    });

    it("callers without advisories.list get the same response whether a group or an archive exists", async () => {
      const stranger = await addCaller(server, await addGroup(server, null, "other"), viewerRole.uid);
      const asStranger = {
        authorization: `Bearer ${stranger.token}`,
        "if-none-match": "*",
        "x-request-id": "r".repeat(16),
      };
      const missing = `${server.groupUid}/${"a".repeat(16)}`;
      for (const file of ["Go/all.zip", "PyPI/all.zip", "ecosystems.txt"]) {
        const replies = await Promise.all([group, below, missing].map((uid) => get(uid, file, asStranger)));
        for (const { status, headers } of replies) assert.deepEqual([status, headers.get("etag")], [403, null]);
        const texts = replies.map(({ bytes }, i) => String(bytes).replaceAll([group, below, missing][i]!, "UID"));
        assert.equal(new Set(texts).size, 1, texts.join("\n"));
      }
      assert.equal((await get(group, "Go/all.zip", { authorization: "Bearer x" })).status, 401);
    });

    it("a wrong request gets an error that names the problem", async () => {
      const cases: readonly (readonly [file: string, said: RegExp])[] = [
        ["pypi/all.zip", /ecosystem: OSV has no ecosystem "pypi", but "PyPI"/],
        ["Debian:12/all.zip", /ecosystem: must not have a release/],
        ["%E0%A4/all.zip", /ecosystem: has a malformed escape/],
        ["Go/all.zip?ecosystem=Nowhere", /ecosystem: OSV has no ecosystem "Nowhere"/],
        ["ecosystems.txt?x=1", /x: is not a parameter/],
      ];
      for (const [file, said] of cases) {
        const { status, bytes } = await get(group, file);
        assert.equal(status, 400, file);
        assert.match(JSON.parse(String(bytes)).message, said);
      }
    });
  });
}
