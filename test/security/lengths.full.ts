// D: no reply, error or log line grows with what a caller stored or sent.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { createGroup } from "../../src/services/iam/bootstrap.ts";
import { findRow, updateRow } from "../../src/storage/collection/rows.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { databases } from "../harness/databases.ts";
import { keptLog } from "../harness/kept-log.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { codeOf, type Ground, openGround, replyOf } from "./ground.ts";
import { addCaller, addGroup, arrange, ownerRole } from "./tree.ts";

const million = 1_000_000;

after(stopPostgres);

for (const database of databases) {
  describe(`lengths on ${database}`, () => {
    const log = keptLog();
    let ground: Ground;
    let root: string;
    let token: string;

    before(async () => {
      ground = await openGround({ database, log: log.stream });
      root = await addGroup(ground.server, null, "root");
      ({ token } = await addCaller(ground.server, root, ownerRole.uid));
    });
    after(() => ground[Symbol.asyncDispose]());

    /** Adds a group with a description that no request may bring. */
    async function addLargeGroup(parent: string, length: number): Promise<void> {
      await arrange(ground.server, async (tx) => {
        const { uid } = await createGroup(tx, parent, "large", "");
        const row = (await findRow(tx, groupCollection, uid))!;
        await updateRow(tx, groupCollection, row, { ...row, description: "d".repeat(length) });
      });
    }

    it("rejects long names with a short error, over every transport, and logs them short", async () => {
      const name = "n".repeat(million);
      const before = log.text().length;
      const outcome = await ground.everywhere(token, "ReposService/CreateRepo", { parent: root, repo: { name } });
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
      assert.equal(outcome.message, "Invalid argument: name: must be at most 256 characters long");
      assert.ok(log.text().length - before < 10_000);
    });

    it("truncates repeated texts of a request, over every transport, and in the log", async () => {
      const before = log.text().length;
      const path = "p".repeat(million);
      const request = { group: { uid: root }, updateMask: path };
      const outcome = await ground.once(token, "GroupsService/UpdateGroup", request);
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
      assert.ok(outcome.message.length < 400, `${outcome.message.length} characters`);
      assert.ok(log.text().length - before < 10_000);
    });

    it("a thousand bad uids are INVALID_ARGUMENT over gRPC, of which 20 are named", async () => {
      const uidp = { ids: Array(1000).fill("x".repeat(60)) };
      const outcome = await ground.once(token, "GroupsService/ListGroups", { uidp });
      assert.equal(codeOf(outcome), "INVALID_ARGUMENT");
      const found = outcome.details.find((detail) => (detail as JsonObject).fieldViolations) as JsonObject;
      assert.equal((found.fieldViolations as unknown[]).length, 20);
    });

    it("limits keys and entries of maps", async () => {
      const create = (clientIds: Record<string, string>) => {
        const accountAssociation = { name: "a", azure: { tenantId: "t", clientIds } };
        const request = { parent: root, accountAssociation };
        return ground.everywhere(token, "AccountAssociationsService/CreateAccountAssociation", request);
      };
      const long = await create({ ["k".repeat(4097)]: "v" });
      assert.match(
        long.message,
        /^Invalid argument: azure\.client_ids\["k+…: must be at most 4096 characters without NUL$/,
      );
      const entries = Array.from({ length: 1001 }, (_, i) => [`k${i}`, "v"]);
      const many = await create(Object.fromEntries(entries));
      assert.equal(many.message, "Invalid argument: azure.client_ids: must not have more than 1000 entries");
    });

    it("AIP-158: a page of large rows ends earlier, and the pages have all of them", async () => {
      const parent = await addGroup(ground.server, root, "pages");
      for (let i = 0; i < 5; i++) await addLargeGroup(parent, 3 * million);
      await addLargeGroup(parent, 9 * million);
      const sizes: number[] = [];
      const seen = new Set<string>();
      for (let pageToken = ""; ; ) {
        const query = new URLSearchParams({ "uidp.children_of": parent, page_size: "200", page_token: pageToken });
        const { body } = await rest(ground.server.url, token, "GET", `/iam/v2beta1/groups?${query}`);
        assert.equal(body.totalCount, "6");
        for (const { uid } of body.groups) seen.add(uid);
        sizes.push(JSON.stringify(body).length);
        pageToken = body.nextPageToken ?? "";
        if (pageToken === "") break;
      }
      assert.equal(seen.size, 6);
      assert.ok(Math.max(...sizes) < 10 * million, `pages of ${sizes}`);
    });

    it("rejects a list of version 1, which has no pages, if it is too long", async () => {
      const parent = await addGroup(ground.server, root, "no pages");
      for (let i = 0; i < 4; i++) await addLargeGroup(parent, 9 * million);
      const query = new URLSearchParams({ "uidp.children_of": parent });
      const { status, body } = await rest(ground.server.url, token, "GET", `/iam/v1/groups?${query}`);
      assert.deepEqual([status, body.code], [429, 8]);
      assert.match(body.message, /longer than 33554432 characters, too much for one response/);
    });

    it("lists identities with the longest texts, at any page size", async () => {
      const parent = await addGroup(ground.server, root, "claims");
      const claims = Object.fromEntries(
        Array.from({ length: 50 }, (_, i) => [`${i}`.padEnd(2048, "c"), '"'.repeat(2048)]),
      );
      const claimMatch = { issuer: "https://issuer.example.org", subject: "s", claims };
      for (let i = 0; i < 45; i++) {
        const identity = { name: `i${i}`, claimMatch };
        replyOf(await ground.once(token, "IdentitiesService/CreateIdentity", { parent, identity }));
      }
      const query = new URLSearchParams({ "uidp.children_of": parent, page_size: "200" });
      const { status, body } = await rest(ground.server.url, token, "GET", `/iam/v2beta1/identities?${query}`);
      assert.deepEqual([status, body.totalCount], [200, "45"]);
      assert.ok(body.identities.length < 45 && body.nextPageToken !== "", `${body.identities.length} of 45`);
    });
  });
}
