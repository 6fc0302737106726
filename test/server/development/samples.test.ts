// The sample data of the development server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import pino from "pino";
import { AdvisorySchema } from "../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { type Development, openDevelopment } from "../../../src/server/development/development.ts";
import { generateAdvisories } from "../../../src/server/development/samples/advisories.ts";
import { rest } from "../../harness/rest.ts";
import { type EmptyServer, startEmptyServer } from "../../harness/server.ts";

describe("sample data", () => {
  let server: EmptyServer;
  let development: Development;
  const get = async (path: string) => {
    const token = readFileSync(development.tokenFile, "utf8");
    return (await rest(server.url, token, "GET", path)).body;
  };

  before(async () => {
    server = await startEmptyServer();
    development = await openDevelopment(server.config, server.server, pino({ level: "silent" }));
  });
  after(async () => {
    await development[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it("P7: the specification's own list of repos skips 10 of 14 and shows the other 4", async () => {
    const org = development.organization.groupUid;
    const reply = await get(`/registry/v2beta1/repos?uidp.descendants_of=${org}&order_by=name&skip=10&page_size=5`);
    const names = reply.repos.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["ruby", "rust", "static", "valkey"]);
    assert.deepEqual([reply.skipped, reply.totalCount, reply.nextPageToken ?? ""], [10, "14", ""]);
  });

  it("every repo has tags, and its image an architecture and a size", async () => {
    const [repo] = (await get("/registry/v2beta1/repos?name=nginx")).repos;
    const { tags } = await get(`/registry/v2beta1/tags?uidp.children_of=${repo.uid}&order_by=name`);
    assert.deepEqual(
      tags.map(({ name }: { name: string }) => name),
      ["5.0", "latest", "latest-dev"],
    );
    const image = `/registry/v2beta1/repos/${repo.uid}/digests/${tags[0].digest}`;
    assert.deepEqual(await get(`${image}/architectures`), { architectures: ["amd64", "arm64"] });
    assert.equal((await get(`${image}/size?architecture=arm64`)).architecture, "arm64");
  });

  it("there are an identity provider with a mapping and an accepted document", async () => {
    const { identityProviders } = await get("/iam/v2beta1/identityProviders");
    const { externalGroupRoleMappings } = await get("/iam/v2beta1/externalGroupRoleMappings");
    const { termsAcceptances } = await get(`/iam/v2beta1/terms/${development.organization.groupUid}`);
    assert.deepEqual([identityProviders.length, externalGroupRoleMappings.length, termsAcceptances.length], [1, 1, 1]);
    assert.equal(externalGroupRoleMappings[0].identityProviderUid, identityProviders[0].uid);
    assert.equal(termsAcceptances[0].docId, "sfdpa.v1");
  });

  it("there is one of every other resource", async () => {
    const { groupInvites } = await get("/iam/v2beta1/groupInvites");
    const { accountAssociations } = await get("/iam/v2beta1/accountAssociations");
    const { subscriptions } = await get("/events/v2beta1/subscriptions");
    const { groupUid } = development.organization;
    const { roles } = await get(`/iam/v2beta1/roles?uidp.children_of=${groupUid}`);
    assert.deepEqual([groupInvites.length, groupInvites[0].role.name, groupInvites[0].code], [1, "viewer", undefined]);
    assert.deepEqual([accountAssociations.length, accountAssociations[0].uid], [1, groupUid]);
    assert.deepEqual([subscriptions.length, subscriptions[0].sink], [1, "https://hooks.example.org/gatehouse"]);
    assert.deepEqual([roles.length, roles[0].capabilities], [1, ["CAP_REPO_LIST", "CAP_TAG_LIST"]]);
  });

  it("there are advisories", async () => {
    const reply = await get("/vulnerabilities/v2beta1/advisories?order_by=created_at&page_size=1");
    assert.deepEqual([reply.totalCount, reply.advisories[0].aliases], ["8", ["CVE-2026-10000"]]);
  });

  it("a seed makes the same advisories, and another one others", () => {
    const json = (seed: string, count: number) => generateAdvisories(seed, count).map((a) => toJson(AdvisorySchema, a));
    assert.deepEqual(json("a", 3).slice(0, 2), json("a", 2));
    assert.notDeepEqual(json("a", 2), json("b", 2));
    const ids = generateAdvisories("a", 500).map(({ advisoryId }) => advisoryId);
    assert.equal(new Set(ids).size, 500);
    for (const id of ids) assert.match(id, /^CGA(-[23456789cfghjmpqrvwx]{4}){3}$/);
  });
});
