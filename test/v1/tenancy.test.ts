// Category I for version 1: denials have the same text whether the resource exists or not, and no list
// shows it. Its methods call those of today, for which the whole matrix is run.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { Code, codeName } from "../../src/aip/errors.ts";
import { type ApiClient, openApiClient } from "../harness/api-clients.ts";
import { isQuick } from "../harness/quick.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { v1Services } from "../harness/v1-services.ts";
import { demandOf } from "../security/matrix.ts";
import { addMapping, addProvider } from "../security/provider-tree.ts";
import { addAdvisory, addRepo, addSubscription, addTag } from "../security/registry-tree.ts";
import {
  addAssociation,
  addCaller,
  addGroup,
  addIdentity,
  addInvite,
  addRole,
  bind,
  ownerRole,
  viewerRole,
} from "../security/tree.ts";
import { filters, targets, withoutUid } from "./tenancy-requests.ts";

const absent = "f".repeat(16);
let server: TestServer;
let apiClients: ApiClient[];
let owner: string;
let scoped: string;
/** The token of a caller whose grants include everything that the others must not see. */
let unrestricted: string;
/** The group that the rights of both callers reach, one of them by half. */
let granted: string;
/** Uids that the rights of both callers do not reach. */
let beyond: Readonly<Record<string, string>>;
/** Those of them that are groups; something of every kind lies in each. */
let filled: readonly string[];

describe("I version 1", () => {
  before(async () => {
    server = await startTestServer();
    apiClients = (isQuick ? (["rest"] as const) : (["grpc", "rest"] as const)).map((name) =>
      openApiClient(name, server.url),
    );
    const [root, other] = [await addGroup(server, null), await addGroup(server, null)];
    const sibling = await addGroup(server, root);
    granted = await addGroup(server, root);
    const inner = await addGroup(server, granted);
    filled = [root, other, sibling];
    for (const group of filled) await fill(group);
    const caller = await addCaller(server, granted, ownerRole.uid);
    owner = caller.token;
    scoped = await server.tokenOf(caller.uid, { scopes: [inner] });
    const broad = await addCaller(server, root, ownerRole.uid);
    await bind(server, other, broad.uid, ownerRole.uid);
    unrestricted = broad.token;
    beyond = {
      "its parent": root,
      "a sibling": sibling,
      "another root": other,
      "absent, below a sibling": `${sibling}/${absent}`,
      "absent, in no organization": "f".repeat(40),
    };
  });
  after(async () => {
    for (const apiClient of apiClients) apiClient[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const [method, request] of Object.entries(targets)) {
    it(`I1, I3, I7: ${method} is denied beyond the caller's rights, whether the resource exists or not`, async () => {
      for (const apiClient of apiClients) {
        for (const token of [owner, scoped]) {
          const denials = await Promise.all(
            Object.values(beyond).map(async (uid) => {
              const outcome = await apiClient.call(token, path(method), request(uid));
              assert.equal(codeName(outcome.code), "PERMISSION_DENIED", `${apiClient.name}: ${outcome.message}`);
              return JSON.stringify(outcome).replaceAll(uid, "<uid>");
            }),
          );
          assert.equal(new Set(denials).size, 1, "the denials differ");
        }
        assert.equal(codeName(await codeOf(apiClient, owner, method, request("x"))), "INVALID_ARGUMENT");
        assert.equal(codeName(await codeOf(apiClient, undefined, method, request("x"))), "UNAUTHENTICATED");
      }
    });
  }

  for (const [method, names] of Object.entries(filters)) {
    it(`I1: ${method} shows nothing beyond the caller's rights`, async () => {
      for (const apiClient of apiClients) {
        const there = await thingsThere(apiClient, method, names);
        const asked = names.flatMap((name) => {
          const uids = /\bids?$/.test(name) ? [...Object.values(beyond), ...there] : Object.values(beyond);
          return uids.map((uid) => filterOf(name, uid));
        });
        for (const token of [owner, scoped]) {
          for (const filter of asked) {
            // A list may show ancestors of the granted group too, because they contain it.
            const shown = await list(apiClient, token, method, filter);
            assert.deepEqual(
              shown.filter((uid) => !isWithin(uid, granted)),
              [],
              JSON.stringify(filter),
            );
          }
        }
        assert.equal(codeName(await codeOf(apiClient, undefined, method, {})), "UNAUTHENTICATED");
      }
    });
  }

  it("every method that needs a caller is among these, or has no uid to try", () => {
    const methods = v1Services.flatMap((service) =>
      service.methods.filter(demandOf).map(({ name }) => `${service.typeName}/${name}`),
    );
    const tried = [...Object.keys(targets), ...Object.keys(filters), ...withoutUid].map((each) => path(each).slice(1));
    assert.deepEqual(tried.sort(), methods.sort());
  });
});

/** Adds something of every kind that can be listed. */
async function fill(group: string): Promise<void> {
  const identity = await addIdentity(server, group);
  await addRole(server, group, [Capability.CAP_IAM_GROUPS_LIST]);
  await bind(server, group, identity, viewerRole.uid);
  await addInvite(server, group);
  await addAssociation(server, group);
  await addMapping(server, await addProvider(server, group));
  const repo = await addRepo(server, group);
  await addTag(server, repo);
  await addTag(server, repo, { deprecated: true });
  await addAdvisory(server, group);
  await addSubscription(server, group);
}

/**
 * Returns the names that a list shows of the filled groups to an unrestricted caller; fails if there are none, since then the test could
 * find no leak.
 */
async function thingsThere(apiClient: ApiClient, method: string, names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const group of filled) {
    const lists = names.map((name) => list(apiClient, unrestricted, method, filterOf(name, group)));
    const inside = (await Promise.all(lists)).flat().filter((uid) => isWithin(uid, group));
    assert.ok(inside.length > 0, `${apiClient.name}: ${method} shows nothing of ${group} to anybody`);
    found.push(...inside);
  }
  return [...new Set(found)].filter((uid) => !isWithin(uid, granted));
}

/** Returns the uids that a list shows, of the groups where its items have none of their own. */
async function list(apiClient: ApiClient, token: string, method: string, filter: JsonObject): Promise<string[]> {
  const { code, message, response } = await apiClient.call(token, path(method), filter);
  assert.equal(code, Code.OK, message);
  const { items = [] } = response as { items?: { id?: string; group?: string }[] };
  return items.map(({ id, group }) => id ?? group ?? "");
}

function isWithin(uid: string, group: string): boolean {
  return `${uid}/`.startsWith(`${group}/`);
}

function path(method: string): string {
  return `/chainguard.platform.${method}`;
}

async function codeOf(
  apiClient: ApiClient,
  token: string | undefined,
  method: string,
  request: JsonObject,
): Promise<Code> {
  return (await apiClient.call(token, path(method), request)).code;
}

/** Returns a filter by the JSON path of its field. */
function filterOf(name: string, uid: string): JsonObject {
  const [first = "", second] = name.split(".");
  const value = name.endsWith("ids") ? [uid] : uid;
  return second === undefined ? { [first]: value } : { [first]: { [second]: value } };
}
