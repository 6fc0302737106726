// Notifications that come out of order: several nodes of a registry tell of their own events, each again until it is taken.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import type { TestServer } from "../harness/server.ts";
import { digestOf, event, type Listening, startListening } from "./listening.ts";
import type { OutsideRegistry } from "./outside-registry.ts";

after(stopPostgres);

for (const database of databases) {
  describe(`late notifications of a registry on ${database}`, () => {
    let listening: Listening;
    let server: TestServer;
    let registry: OutsideRegistry;
    before(async () => {
      listening = await startListening(database);
      ({ server, registry } = listening);
    });
    after(() => listening[Symbol.asyncDispose]());
    const distribution: Listening["distribution"] = (...events) => listening.distribution(...events);
    const push: Listening["push"] = (...args) => listening.push(...args);
    const tagsOf: Listening["tagsOf"] = (name) => listening.tagsOf(name);

    /** Returns the event as it happened so many seconds after the first. */
    const later = (seconds: number, told: object) => ({
      ...told,
      timestamp: new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1000).toISOString(),
    });
    const remove = (name: string, digest: string) =>
      event("delete", { repository: `${server.groupUid}/${name}`, digest });
    const outdated = { written: 0, repeated: 0, ignored: 1 };

    it("a late push of a tag that has moved on since changes nothing, however often it comes", async () => {
      const [first, second] = [registry.putImage("amd64", "o1").digest, registry.putImage("amd64", "o2").digest];
      const late = later(1, push("order", "1.0", first));
      registry.tag(`${server.groupUid}/order`, "1.0", second);
      await distribution(later(2, push("order", "1.0", second)));
      assert.deepEqual((await distribution(late)).body, outdated);
      assert.deepEqual((await distribution(late)).body, { written: 0, repeated: 1, ignored: 0 });
      assert.deepEqual(await tagsOf("order"), { "1.0": second });
    });

    it("a push that only seems late by the clock of another node is applied", async () => {
      const { digest } = registry.putImage("amd64", "o3");
      await distribution(later(9, push("skewed", "1.0", digestOf("a"))));
      registry.tag(`${server.groupUid}/skewed`, "1.0", digest);
      assert.equal((await distribution(later(3, push("skewed", "1.0", digest)))).body.written, 1);
      assert.deepEqual(await tagsOf("skewed"), { "1.0": digest });
    });

    it("a late push of what was deleted since does not bring it back", async () => {
      const digest = digestOf("7");
      await distribution(later(1, push("buried", "kept", digestOf("8"))), later(3, remove("buried", digest)));
      assert.deepEqual((await distribution(later(2, push("buried", "1.0", digest)))).body, outdated);
      assert.deepEqual(await tagsOf("buried"), { kept: digestOf("8") });
    });

    it("a late deletion of what was pushed again since takes nothing", async () => {
      const { digest } = registry.putImage("amd64", "o4");
      registry.tag(`${server.groupUid}/again`, "1.0", digest);
      await distribution(later(3, push("again", "1.0", digest)));
      assert.deepEqual((await distribution(later(2, remove("again", digest)))).body, outdated);
      assert.deepEqual(await tagsOf("again"), { "1.0": digest });
    });

    it("late notifications in their order are applied one after the other", async () => {
      registry.tag(`${server.groupUid}/queue`, "1.0", digestOf("3"));
      for (const [i, letter] of ["1", "2", "3"].entries())
        assert.equal((await distribution(later(i, push("queue", "1.0", digestOf(letter))))).body.written, 1);
      assert.deepEqual(await tagsOf("queue"), { "1.0": digestOf("3") });
    });

    it("accepts an event with a time of finer resolution, or with an impossible time", async () => {
      for (const [i, time] of [1_767_225_600.000_5, 1e300, -1e300].entries()) {
        const resources = [{ digest: digestOf("6"), tag: `t${i}` }];
        const data = { resources, repository: { repo_full_name: `${server.groupUid}/moment` } };
        const sent = await listening.send({ type: "PUSH_ARTIFACT", occur_at: time, event_data: data });
        assert.deepEqual(sent, { status: 200, body: { written: 1, repeated: 0, ignored: 0 } }, `${time}`);
      }
    });

    it("a push that another one overtakes while its image is read changes nothing", async () => {
      const [first, second] = [registry.putImage("amd64", "o5").digest, registry.putImage("amd64", "o6").digest];
      registry.tag(`${server.groupUid}/overtaken`, "1.0", second);
      const asked = Promise.withResolvers<() => void>();
      registry.intercept = (request, response) => {
        if (!request.url?.endsWith(first)) return false;
        asked.resolve(() => response.writeHead(500).end());
        return true;
      };
      const slow = distribution(later(1, push("overtaken", "1.0", first)));
      const answer = await asked.promise;
      assert.equal((await distribution(later(2, push("overtaken", "1.0", second)))).body.written, 1);
      answer();
      assert.deepEqual((await slow).body, outdated);
      registry.intercept = () => false;
      assert.deepEqual(await tagsOf("overtaken"), { "1.0": second });
    });

    /** Returns an event of Harbor, whose times are in whole seconds, with an id or without. */
    const harbor = (type: string, name: string, tag: string, digest: string, id?: string) => {
      const data = { resources: [{ digest, tag }], repository: { repo_full_name: `${server.groupUid}/${name}` } };
      if (id === undefined) return { type, occur_at: 1_767_225_600, event_data: data };
      const cloudType = { PUSH_ARTIFACT: "harbor.artifact.pushed", DELETE_ARTIFACT: "harbor.artifact.deleted" }[type];
      return {
        specversion: "1.0",
        source: "/projects/1/webhook/policies/1",
        id,
        type: cloudType,
        time: "2026-01-01T00:00:00Z",
        data,
      };
    };
    for (const [form, id] of [
      ["Default", () => undefined],
      ["CloudEvents", () => randomUUID()],
    ] as const) {
      it(`events of the same second in Harbor's format ${form} count by what the registry has`, async () => {
        const name = `second-${form.toLowerCase()}`;
        const [gone, kept] = [
          registry.putImage("amd64", `gone ${form}`).digest,
          registry.putImage("amd64", `kept ${form}`).digest,
        ];
        registry.tag(`${server.groupUid}/${name}`, "kept", kept);
        // Deleted and pushed again, which arrive the other way around; and pushed and deleted, too.
        await listening.send(harbor("PUSH_ARTIFACT", name, "kept", kept, id()));
        assert.deepEqual((await listening.send(harbor("DELETE_ARTIFACT", name, "kept", kept, id()))).body, outdated);
        await listening.send(harbor("DELETE_ARTIFACT", name, "gone", digestOf("9"), id()));
        assert.deepEqual(
          (await listening.send(harbor("PUSH_ARTIFACT", name, "gone", digestOf("9"), id()))).body,
          outdated,
        );
        await listening.send(harbor("PUSH_ARTIFACT", name, "moved", gone, id()));
        registry.tag(`${server.groupUid}/${name}`, "moved", kept);
        assert.equal((await listening.send(harbor("PUSH_ARTIFACT", name, "moved", kept, id()))).body.written, 1);
        assert.deepEqual(await tagsOf(name), { kept, moved: kept });
      });
    }

    it("an event that waits for the registry asks again if another event of the same second was applied meanwhile", async () => {
      const { digest } = registry.putImage("amd64", "o7");
      const name = "second-overtaken";
      registry.tag(`${server.groupUid}/${name}`, "1.0", digest);
      await listening.send(harbor("PUSH_ARTIFACT", name, "other", digestOf("2"), randomUUID()));
      const asked = Promise.withResolvers<() => void>();
      registry.intercept = (request, response) => {
        if (!request.url?.endsWith(digest)) return false;
        registry.intercept = () => false;
        // The state of the registry at that time.
        asked.resolve(() => response.writeHead(500).end());
        return true;
      };
      const slow = listening.send(harbor("PUSH_ARTIFACT", name, "1.0", digest, randomUUID()));
      const answer = await asked.promise;
      registry.repositories.get(`${server.groupUid}/${name}`)!.delete("1.0");
      await listening.send(harbor("DELETE_ARTIFACT", name, "1.0", digest, randomUUID()));
      answer();
      assert.deepEqual((await slow).body, outdated);
      assert.deepEqual(await tagsOf(name), { other: digestOf("2") });
    });

    it("if the registry cannot be asked, the latest notification counts", async () => {
      await distribution(later(2, push("deaf", "1.0", digestOf("1"))));
      registry.intercept = (_request, response) => {
        response.writeHead(500).end();
        return true;
      };
      assert.equal((await distribution(later(1, push("deaf", "1.0", digestOf("2"))))).body.written, 1);
      registry.intercept = () => false;
      assert.deepEqual(await tagsOf("deaf"), { "1.0": digestOf("2") });
    });
  });
}
