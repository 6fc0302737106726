// The search by words: what is found of each kind, by whom, and in which bounds.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { insertAdvisory } from "../../../src/services/vulnerabilities/advisories/insert-advisory.ts";
import { databases } from "../../harness/databases.ts";
import { untilNamesAreIndexed } from "../../harness/indexed-names.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { turnableClock } from "../../security/ground.ts";
import { addRepo, addSubscription, addTag } from "../../security/registry-tree.ts";
import {
  addCaller,
  addGroup,
  addIdentity,
  addPerson,
  addRole,
  arrange,
  bind,
  ownerRole,
  viewerRole,
} from "../../security/tree.ts";

interface FoundResource {
  readonly kind: string;
  readonly uid?: string;
  readonly name: string;
  readonly email: string;
  readonly path: readonly { readonly uid: string; readonly name: string }[];
  readonly isYou: boolean;
}

const people = "RESOURCE_KIND_PERSON";

after(stopPostgres);

for (const database of databases) {
  describe(`the search by words (${database})`, () => {
    const clock = turnableClock();
    let server: TestServer;
    let root: string;
    let folder: string;
    let inner: string;
    let owner: { uid: string; token: string };
    const known: Record<string, string> = {};

    before(async () => {
      server = await startTestServer({ database, clock: clock.read });
      root = await addGroup(server, null, "example.org");
      folder = await addGroup(server, root, "payments-eu");
      inner = await addGroup(server, folder, "ledger");
      owner = await addCaller(server, root, ownerRole.uid);
      const other = await addGroup(server, null, "other");
      known.ana = await addPerson(server, "ana lópez", "ana.l@mail.example.org", root);
      known.ben = await addPerson(server, "ben lopez", "ben@example.org", root);
      known.guest = await addPerson(server, "guest lopez", "guest@example.org", undefined);
      known.foreign = await addPerson(server, "foreign lopez", "foreign@example.org", other);
      await bind(server, inner, known.ana, viewerRole.uid);
      await bind(server, inner, known.guest, viewerRole.uid);
      await untilNamesAreIndexed(server);
    });
    after(() => server[Symbol.asyncDispose]());
    // A new window of the limit of searches for people.
    beforeEach(() => clock.advance(60_000));

    async function reply(query: string, parameters: Record<string, string> = {}, token = owner.token) {
      const all = new URLSearchParams({ parent: root, query, ...parameters });
      return await rest(server.url, token, "GET", `/gatehouse/search/v1/resources:search?${all}`);
    }

    async function search(query: string, parameters?: Record<string, string>, token?: string) {
      const { status, body } = await reply(query, parameters, token);
      assert.equal(status, 200, JSON.stringify(body));
      return body as { resources: FoundResource[]; truncated: boolean };
    }

    const namesOf = async (query: string, parameters?: Record<string, string>, token?: string) =>
      (await search(query, parameters, token)).resources.map(({ name }) => name);

    it("finds people by any word of the name, by the address, its local part and its domain", async () => {
      const byQuery: Record<string, string[]> = {
        lop: ["ana lópez", "ben lopez"],
        "LÓPEZ ana": ["ana lópez"],
        "ben@example.org": ["ben lopez"],
        "ana.l": ["ana lópez"],
        "ana.l@ma": ["ana lópez"],
        "mail.example.org": ["ana lópez"],
        "@example.org": ["ana lópez", "ben lopez"],
        "lopez nobody": [],
      };
      for (const [query, names] of Object.entries(byQuery))
        assert.deepEqual(await namesOf(query, { kinds: people }), names, query);
      const [ben] = (await search("ben", { kinds: people })).resources;
      const { uid, kind, email, isYou, path } = ben!;
      assert.deepEqual([uid, kind, email, isYou, path], [known.ben, people, "ben@example.org", false, []]);
    });

    it("finds people who have not joined by their whole uid only, and without a name", async () => {
      assert.deepEqual(await namesOf("guest", { kinds: people }), []);
      const [guest] = (await search(known.guest!, { kinds: people })).resources;
      assert.deepEqual([guest?.uid, guest?.name ?? "", guest?.email ?? ""], [known.guest, "", ""]);
      assert.deepEqual(await namesOf(known.foreign!, { kinds: people }), []);
      assert.deepEqual(await namesOf(known.ana!, { kinds: people }), ["ana lópez"]);
    });

    it("finds nobody for a caller who may neither see nor give roles", async () => {
      const role = await addRole(server, root, [Capability.CAP_IAM_GROUPS_LIST]);
      const { token } = await addCaller(server, root, role);
      assert.deepEqual(await namesOf("lopez", { kinds: people }, token), []);
      assert.deepEqual(await namesOf(known.ana!, { kinds: people }, token), []);
    });

    it("finds people near the groups where the caller sees roles, and all of them for a grant", async () => {
      const viewer = await addCaller(server, folder, viewerRole.uid);
      const granter = await addCaller(server, folder, ownerRole.uid);
      for (const { token } of [viewer, granter])
        assert.deepEqual(await namesOf("lopez", { kinds: people }, token), ["ana lópez"]);
      const forGrant = { kinds: people, forGrant: "true" };
      assert.deepEqual(await namesOf("lopez", forGrant, viewer.token), ["ana lópez"]);
      assert.deepEqual(await namesOf("lopez", forGrant, granter.token), ["ana lópez", "ben lopez"]);
    });

    it("finds nobody for a person who has not joined", async () => {
      await bind(server, root, known.foreign!, viewerRole.uid);
      assert.deepEqual(await namesOf("lopez", { kinds: people }, await server.tokenOf(known.foreign!)), []);
    });

    it("says which person is the caller", async () => {
      const { resources } = await search("ana", { kinds: people }, await server.tokenOf(known.ana!));
      assert.deepEqual(
        resources.map(({ uid, isYou }) => [uid, isYou]),
        [[known.ana, true]],
      );
    });

    it("a caller searches for people 60 times a minute in an organization", async () => {
      const { token } = await addCaller(server, root, ownerRole.uid);
      for (let i = 0; i < 60; i++) await search("lopez", { kinds: people }, token);
      const { status, body } = await reply("lopez", { kinds: people }, token);
      assert.equal(status, 429);
      assert.match(JSON.stringify(body), /"reason":"RATE_LIMITED".*RetryInfo/);
      await search("lopez", { kinds: "RESOURCE_KIND_GROUP" }, token);
      await search("lopez", { kinds: people });
      clock.advance(60_000);
      await search("lopez", { kinds: people }, await server.tokenOf(owner.uid));
    });

    it("finds resources by any words of their names, with the groups above them", async () => {
      await addIdentity(server, inner, { name: "nightly-deploy eu" });
      await untilNamesAreIndexed(server);
      for (const query of ["deploy", "eu depl", "nightly-deploy", "nightly eu"]) {
        const { resources } = await search(query, { kinds: "RESOURCE_KIND_IDENTITY" });
        assert.deepEqual(
          resources.map(({ name }) => name),
          ["nightly-deploy eu"],
          query,
        );
        assert.deepEqual(
          resources[0]?.path.map(({ name }) => name),
          ["example.org", "payments-eu", "ledger"],
        );
      }
      assert.deepEqual(await namesOf("deploy daily", { kinds: "RESOURCE_KIND_IDENTITY" }), []);
      assert.deepEqual(await namesOf("eu", { kinds: "RESOURCE_KIND_GROUP" }), ["payments-eu"]);
    });

    it("finds by words only what the caller may list, in the group that is searched", async () => {
      await addGroup(server, inner, "books-eu");
      await untilNamesAreIndexed(server);
      const groups = { kinds: "RESOURCE_KIND_GROUP" };
      assert.deepEqual(await namesOf("eu", { ...groups, parent: inner }), ["books-eu"]);
      const { token } = await addCaller(server, inner, viewerRole.uid);
      assert.deepEqual(await namesOf("eu", groups, token), ["books-eu"]);
      const stranger = await addCaller(server, await addGroup(server, null, "stranger"), ownerRole.uid);
      assert.deepEqual(await namesOf("eu", groups, stranger.token), []);
    });

    it("finds tags by the beginning of the name, subscriptions by host, advisories by alias and packages by name", async () => {
      const repo = await addRepo(server, folder);
      const tag = await addTag(server, repo, { name: "v1.2.3" });
      const subscription = await addSubscription(server, folder);
      const advisory = create(AdvisorySchema, {
        advisoryId: "GHSA-aaaa-bbbb-cccc",
        aliases: ["CVE-2030-1234"],
        artifactName: "libfoo",
      });
      const advisoryUid = await arrange(server, (tx) => insertAdvisory(tx, folder, advisory));
      await untilNamesAreIndexed(server);
      const found = async (query: string) =>
        (await search(query)).resources.map(({ kind, uid = "", name }) => [
          kind.replace("RESOURCE_KIND_", ""),
          uid,
          name,
        ]);
      assert.deepEqual(await found("v1.2"), [["TAG", tag, "v1.2.3"]]);
      assert.deepEqual(await found("example.org"), [
        ["GROUP", root, "example.org"],
        ["SUBSCRIPTION", subscription, "example.org"],
        ["PERSON", known.ana, "ana lópez"],
        ["PERSON", known.ben, "ben lopez"],
      ]);
      for (const query of ["cve-2030-1234", "CVE-2030-1234", "GHSA-aaaa-bbbb-cccc", "GHSA-aaaa"])
        assert.deepEqual(await found(query), [["ADVISORY", advisoryUid, "GHSA-aaaa-bbbb-cccc"]], query);
      assert.deepEqual(await found("libfoo"), [["PACKAGE", "", "libfoo"]]);
      const stranger = await addCaller(server, await addGroup(server, null, "stranger"), ownerRole.uid);
      for (const query of ["v1.2", "cve-2030-1234", "libfoo"])
        assert.deepEqual(await namesOf(query, {}, stranger.token), [], query);
    });

    it("finds nobody by one letter, and 20 people at most", async () => {
      for (let i = 0; i < 21; i++) await addPerson(server, `crowd ${i}`, `crowd${i}@example.org`, root);
      await untilNamesAreIndexed(server);
      assert.deepEqual(await namesOf("c", { kinds: people }), []);
      const { resources, truncated } = await search("crowd", { kinds: people, pageSize: "50" });
      assert.equal(resources.length, 20);
      assert.equal(truncated, true);
      const last = await namesOf("crowd 9", { kinds: people, pageSize: "1" });
      assert.deepEqual(last, ["crowd 9"]);
      await addPerson(server, "zoe crowd", "crowd", root);
      await untilNamesAreIndexed(server);
      const [first] = await namesOf("crowd", { kinds: people, pageSize: "1" });
      assert.equal(first, "zoe crowd", "the one whose whole address it is comes first");
    });
  });
}
