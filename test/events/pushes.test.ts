// Tests of the events for notifications from a container registry.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { type CloudEvent, HTTP } from "cloudevents";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { digestOf, event, type Listening, manifestType, startListening } from "../registry/listening.ts";
import { openSink, type Received, type Sink, sending } from "./sink.ts";

const type = "dev.chainguard.registry.push.v1";
const isPush = ({ headers }: Received) => headers["ce-type"] === type;

const [a, b, c] = ["a", "b", "c"].map(digestOf) as [string, string, string];

/** Fields that none of these notifications sets. */
const nowhere = { location: "", remote_address: "", user_agent: "" };

async function subscribe({ server }: Listening, parent: string, sink: string): Promise<void> {
  const { url, ownerToken } = server;
  const reply = await rest(url, ownerToken, "POST", `/events/v2beta1/subscriptions/${parent}`, { sink });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
}

/** Returns the event of a delivery, from its envelope and its data. */
function readEvent({ headers, body }: Received) {
  const told = HTTP.toEvent({ headers: headers as Record<string, string>, body }) as CloudEvent<unknown>;
  assert.equal((told.validate as () => boolean).call(told), true);
  const { actor, body: shown } = told.data as { actor: object; body: Record<string, unknown> };
  return { told: told as unknown as Record<string, unknown>, actor, shown };
}

after(stopPostgres);

for (const database of databases) {
  describe(`events of pushes (${database})`, () => {
    let listening: Listening;
    let sink: Sink;
    let root: string;
    let team: string;
    let expected = 0;
    before(async () => {
      listening = await startListening(database, { ...sending, registryService: "registry.example.org" });
      sink = await openSink();
      const { server } = listening;
      root = server.groupUid;
      await subscribe(listening, root, sink.url);
      const { body } = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/groups/${root}`, {
        name: "team",
      });
      team = body.uid;
    });
    after(async () => {
      await listening[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    });

    /** Returns the events of pushes that have come since it was asked last, of which there must be so many. */
    async function next(count: number) {
      const received = (await sink.wait(expected + count, isPush)).slice(expected);
      expected += count;
      assert.equal(received.length, count);
      return received.map(readEvent);
    }
    const pushes = async (count: number) => (await next(count)).map(({ shown }) => shown);
    const repo = (name: string) => `${root}/${name}`;
    /** Returns the fields that the events of all pushes into a repo share. */
    const of = async (name: string, ...group: string[]) => ({
      repository: repo(name),
      repo_id: await listening.repoOf(name.split("/").at(-1)!, ...group),
      display_name: name.split("/").at(-1),
      type: "manifest",
    });

    it("CNCF Distribution: the event has actor, image, time, address and the previous digest of the tag", async () => {
      const request = { addr: "192.0.2.7:40512", method: "PUT", useragent: "skopeo/1.13.3" };
      const actor = { name: listening.server.ownerUid };
      const told = { ...listening.push("team/tool", "1.0", a), request, actor, timestamp: "2025-12-31T03:04:05.0829Z" };
      await listening.distribution(told);
      const [pushed] = await next(1);
      const about = await of("team/tool", team);
      assert.deepEqual(pushed!.shown, {
        ...about,
        tag: "1.0",
        digest: a,
        when: "2025-12-31T03:04:05.082000",
        location: "",
        remote_address: "192.0.2.7",
        user_agent: "skopeo/1.13.3",
      });
      // The registry says who it was, and nobody else has seen it.
      const act = { registry: "registry.example.org", name: listening.server.ownerUid };
      assert.deepEqual(pushed!.actor, { subject: "", act });
      const { source, subject, group, bodytype, time, audience } = pushed!.told;
      assert.deepEqual(
        { source, subject, group, bodytype, audience },
        {
          source: "registry.example.org",
          subject: about.repo_id,
          group: team,
          bodytype: undefined,
          audience: "customer",
        },
      );
      assert.ok(Math.abs(Date.now() - Date.parse(String(time))) < 60_000, "the event is of the time when it was told");

      await listening.distribution(listening.push("team/tool", "1.0", b), listening.push("team/tool", undefined, c));
      const when = "2026-01-01T00:00:00.000000";
      assert.deepEqual(await pushes(2), [
        { ...about, tag: "1.0", tag_previous_digest: a, digest: b, when, ...nowhere },
        { ...about, digest: c, when, ...nowhere },
      ]);
    });

    it("Harbor, zot and Azure: each push, with what the registry reports", async () => {
      const repository = { name: "harbor", namespace: root, repo_full_name: repo("harbor"), repo_type: "private" };
      const resources = [
        { digest: a, tag: "1.0" },
        { digest: b, tag: b },
      ];
      await listening.send({
        type: "PUSH_ARTIFACT",
        occur_at: 1_767_225_600,
        operator: "admin",
        event_data: { resources, repository },
      });
      const data = { name: repo("zot"), reference: "1.0", digest: a, mediaType: manifestType };
      const source = "zotregistry.dev";
      const time = "2026-01-01T00:00:00Z";
      await listening.send({
        specversion: "1.0",
        id: randomUUID(),
        source,
        type: "zotregistry.image.updated",
        time,
        data,
      });
      await listening.send({
        ...listening.push("azure", "1.0", a),
        request: { id: randomUUID(), host: "registry.example.org", method: "PUT", useragent: "docker/27.3.1" },
      });
      const when = "2026-01-01T00:00:00.000000";
      assert.deepEqual(await pushes(4), [
        { ...(await of("harbor")), tag: "1.0", digest: a, when, ...nowhere },
        { ...(await of("harbor")), digest: b, when, ...nowhere },
        { ...(await of("zot")), tag: "1.0", digest: a, when, ...nowhere },
        { ...(await of("azure")), tag: "1.0", digest: a, when, ...nowhere, user_agent: "docker/27.3.1" },
      ]);
    });

    it("notifications that are repeated, late, not a push or without a repo cause no event", async () => {
      const { digest } = listening.registry.putImage("amd64", "late");
      listening.registry.tag(repo("quiet"), "1.0", digest);
      const first = listening.push("quiet", "1.0", digest);
      const late = { ...listening.push("quiet", "1.0", a), timestamp: "2025-12-31T23:59:59Z" };
      await Promise.all(Array.from({ length: 4 }, () => listening.distribution(first)));
      await listening.distribution(first, late);
      await listening.distribution(
        event("push", { mediaType: "application/octet-stream", repository: repo("quiet"), digest: a }),
        event("pull", { mediaType: manifestType, repository: repo("quiet"), digest, tag: "1.0" }),
        event("delete", { repository: repo("quiet"), tag: "1.0" }),
        event("push", { mediaType: manifestType, repository: "library/quiet", digest: a, tag: "1.0" }),
      );
      await listening.distribution(listening.push("quiet", "2.0", b));
      const about = await of("quiet");
      assert.deepEqual(
        (await pushes(2)).map(({ repo_id, tag, digest: told }) => [repo_id, tag, told]),
        [
          [about.repo_id, "1.0", digest],
          [about.repo_id, "2.0", b],
        ],
      );
    });

    it("an impossible time becomes the present, and an invalid client address is left out", async () => {
      const begin = new Date().toISOString();
      const times = [undefined, "0001-01-01T00:00:00Z", "+275760-01-01T00:00:00Z", "yesterday"];
      const peers = ["[2001:db8::7]:40512", "2001:db8::7", "192.0.2.7", "client.example.org:40512"];
      const useragent = "x".repeat(5000);
      for (const [i, timestamp] of times.entries())
        await listening.distribution({
          ...listening.push("times", `${i}`, a),
          timestamp,
          request: { addr: peers[i], useragent },
        });
      const told = await pushes(times.length);
      for (const { when, user_agent: said } of told) {
        assert.match(String(when), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
        assert.ok(String(when) >= begin.slice(0, -1) && String(when) <= new Date().toISOString(), String(when));
        assert.ok(String(said).length < 1100);
      }
      assert.deepEqual(
        told.map(({ remote_address }) => remote_address),
        ["2001:db8::7", "2001:db8::7", "192.0.2.7", ""],
      );
    });

    it("subscribers of the repo's group and of its ancestors receive the event", async () => {
      await using below = await openSink();
      await subscribe(listening, team, below.url);
      await below.wait(1);
      await listening.distribution(listening.push("team/tool", "2.0", a));
      await next(1);
      assert.equal((await below.wait(1, isPush)).length, 1);
    });
  });
}

describe("the source of pushes", () => {
  for (const [registryService, source] of [
    ["registry.example.org", "registry.example.org"],
    // RFC 3986 §4.2: otherwise these would be no references, or of the scheme "localhost".
    ["127.0.0.1:5001", "//127.0.0.1:5001"],
    ["localhost:5001", "//localhost:5001"],
  ] as const) {
    it(`the source of ${registryService} is ${source}`, async () => {
      await using listening = await startListening("sqlite", { ...sending, registryService });
      await using sink = await openSink();
      await subscribe(listening, listening.server.groupUid, sink.url);
      await listening.distribution(listening.push("app", "1.0", a));
      const [pushed] = await sink.wait(1, isPush);
      assert.equal(readEvent(pushed!).told.source, source);
    });
  }
});
