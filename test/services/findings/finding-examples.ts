// Examples of each kind of finding, for the tests of the server and of the console.
import assert from "node:assert/strict";
import { RelationshipType } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { delayQueue, enqueueEvent } from "../../../src/storage/events/delivery-queues.ts";
import { readSettings, writeSettings } from "../../../src/storage/events/subscription-settings.ts";
import { rest } from "../../harness/rest.ts";
import type { TestServer } from "../../harness/server.ts";
import { addSubscription } from "../../security/registry-tree.ts";
import { addCaller, addIdentity, arrange, bind, ownerRole, viewerRole } from "../../security/tree.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The uids of one resource of each kind. */
export interface FindingExamples {
  readonly subscription: string;
  readonly key: string;
  readonly invite: string;
  readonly confined: string;
  readonly unused: string;
  readonly paused: string;
}

/** Adds one finding of each kind to a folder of an organization, and what looks similar and is in order. */
export async function addFindingExamples(server: TestServer, root: string, folder: string): Promise<FindingExamples> {
  const [old, today] = [server.clock() - 30 * dayMs, server.clock()];
  const subscription = await addFailing(server, folder);
  await addSubscription(server, folder);
  const key = await addKeys(server, folder, "ends soon", today + 3 * dayMs);
  await addKeys(server, folder, "ends later", today + 33 * dayMs);
  const unused = await addIdentity(server, folder, { name: "unused", createTime: old, lastSeenTime: old });
  await addIdentity(server, folder, { name: "used", createTime: old, lastSeenTime: today });
  const confined = await bind(server, root, await addIdentity(server, folder, { name: "bot" }), viewerRole.uid);
  const paused = await addPaused(server, folder);
  return { subscription, key, unused, confined, paused, invite: await inviteOfDeparted(server, root, folder) };
}

/** Adds two paused subscriptions, of which the returned one has lost events. */
async function addPaused(server: TestServer, group: string): Promise<string> {
  const [uid, other] = [await addSubscription(server, group), await addSubscription(server, group)];
  await arrange(server, async (tx) => {
    for (const [each, droppedEvents] of [
      [uid, 7],
      [other, 0],
    ] as const)
      await writeSettings(tx, {
        ...(await readSettings(tx, each)),
        isPaused: true,
        droppedEvents,
        lastDropTime: droppedEvents > 0 ? server.clock() : null,
      });
  });
  return uid;
}

/** Adds a subscription whose first event has failed 23 times. */
async function addFailing(server: TestServer, group: string): Promise<string> {
  const uid = await addSubscription(server, group);
  const time = server.clock() - 3_600_000;
  await arrange(server, async (tx) => {
    await enqueueEvent(tx, { sequence: Math.trunc(time), time, headers: {}, data: "{}" }, [uid]);
    await delayQueue(tx, uid, { attempts: 23, lastFailure: "HTTP 503", lastDuration: 5, nextTime: time + dayMs });
  });
  return uid;
}

function addKeys(server: TestServer, group: string, name: string, expiresAt: number): Promise<string> {
  const expirationTime = new Date(expiresAt).toISOString();
  const value = { issuer: "keys", subject: name, issuerKeys: '{"keys":[]}', expirationTime };
  const relationship = { case: "staticKeys", value };
  return addIdentity(server, group, { name, relationshipType: RelationshipType.STATIC, relationship });
}

/** Adds an invite whose maker has lost the role, and returns its uid. */
async function inviteOfDeparted(server: TestServer, root: string, folder: string): Promise<string> {
  const leaver = await addCaller(server, root, ownerRole.uid);
  const request = { roleUid: viewerRole.uid, ttl: "86400s", email: "guest@example.com" };
  const path = `/iam/v2beta1/groupInvites/${folder}`;
  const { status, body } = await rest(server.url, leaver.token, "POST", path, request);
  assert.equal(status, 200, JSON.stringify(body));
  const other = await addCaller(server, root, ownerRole.uid);
  const removed = await rest(server.url, other.token, "DELETE", `/iam/v2beta1/roleBindings/${leaver.binding}`);
  assert.equal(removed.status, 200);
  return body.uid;
}
