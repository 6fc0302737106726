// Tests of notifications from registries other than CNCF Distribution, and of invalid notifications.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { TestServer } from "../harness/server.ts";
import { digestOf, event, type Listening, manifestType, secret, startListening } from "./listening.ts";
import { basic } from "./sign-in.ts";

describe("notifications of other registries", () => {
  let listening: Listening;
  let server: TestServer;
  before(async () => {
    listening = await startListening("sqlite");
    ({ server } = listening);
  });
  after(() => listening[Symbol.asyncDispose]());
  const send: Listening["send"] = (...args) => listening.send(...args);
  const push: Listening["push"] = (...args) => listening.push(...args);
  const tagsOf: Listening["tagsOf"] = (name) => listening.tagsOf(name);

  const harbor = (type: string, name: string, resource: object) => ({
    type,
    occur_at: Math.floor(Date.now() / 1000),
    operator: "admin",
    event_data: {
      resources: [resource],
      repository: {
        name,
        namespace: server.groupUid,
        repo_full_name: `${server.groupUid}/${name}`,
        repo_type: "private",
      },
    },
  });
  const cloud = (type: string, data: object) => ({
    specversion: "1.0",
    id: randomUUID(),
    source: "zotregistry.dev",
    type,
    data,
  });
  const zot = (name: string, reference: string, digest: string) => ({
    name: `${server.groupUid}/${name}`,
    reference,
    digest,
    mediaType: manifestType,
  });

  it("Harbor tells of a push and of a deletion", async () => {
    const [a, b] = [digestOf("a"), digestOf("b")];
    const pushed = harbor("PUSH_ARTIFACT", "harbor", { digest: a, tag: "1.0", resource_url: "http://127.0.0.1:1/" });
    assert.equal((await send(pushed)).body.written, 1);
    assert.equal((await send(pushed)).body.repeated, 1);
    await send(harbor("PUSH_ARTIFACT", "harbor", { digest: b, tag: b }));
    const { resources, repository } = pushed.event_data;
    await send(cloud("harbor.artifact.pushed", { resources: [{ ...resources[0], tag: "2.0" }], repository }));
    assert.deepEqual(await tagsOf("harbor"), { "1.0": a, "2.0": a });
    await send(harbor("DELETE_ARTIFACT", "harbor", { digest: a, tag: "1.0" }));
    assert.deepEqual(await tagsOf("harbor"), {});
    assert.deepEqual((await send(harbor("SCANNING_COMPLETED", "harbor", { digest: a }))).body.written, 0);
  });

  it("zot tells of a push and of a deletion, in both modes of CloudEvents", async () => {
    const [a, b] = [digestOf("a"), digestOf("b")];
    await send(cloud("zotregistry.image.updated", zot("zot", "1.0", a)), {
      "content-type": "application/cloudevents+json",
    });
    const binary = { "ce-specversion": "1.0", "ce-id": "7", "ce-source": "zot", "content-type": "application/json" };
    const headers = { ...binary, "ce-type": "org.example.image.updated" };
    assert.equal((await send(zot("zot", "2.0", b), headers)).body.written, 1);
    assert.equal((await send(zot("zot", "2.0", b), headers)).body.repeated, 1);
    await send([cloud("zotregistry.image.updated", zot("zot", "3.0", b))]);
    assert.deepEqual(await tagsOf("zot"), { "1.0": a, "2.0": b, "3.0": b });
    await send(cloud("zotregistry.image.deleted", zot("zot", "3.0", b)));
    assert.deepEqual(await tagsOf("zot"), { "1.0": a, "2.0": b });
    await send(cloud("zotregistry.image.deleted", zot("zot", b, b)));
    assert.deepEqual(await tagsOf("zot"), { "1.0": a });
    assert.equal((await send(cloud("zotregistry.image.lint_failed", zot("zot", "x", a)))).body.written, 0);
  });

  it("Azure tells of a push, bare and wrapped", async () => {
    await send(push("azure", "1.0", digestOf("a")));
    await send([{ id: "x", eventType: "ImagePushed", data: push("azure", "2.0", digestOf("a")) }]);
    assert.deepEqual(Object.keys(await tagsOf("azure")), ["1.0", "2.0"]);
  });

  for (const [what, body] of [
    ["what is not JSON", "x"],
    ["an object of no known shape", "{}"],
    ["a text", '"x"'],
    ["more events than a notification has", JSON.stringify({ events: Array(1001).fill(event("push", { tag: "x" })) })],
  ] as const) {
    it(`${what} is 400`, async () => {
      const { status, body: answer } = await send(body);
      assert.deepEqual([status, answer.code], [400, 3]);
    });
  }

  it("takes the secret as the password of Basic credentials, too", async () => {
    assert.equal((await send({ events: [] }, basic("registry", secret))).status, 200);
  });

  it("accepts the secret of a registry that sends the scheme bearer in lower case", async () => {
    assert.equal((await send({ events: [] }, { authorization: `bearer ${secret}` })).status, 200);
  });
});
