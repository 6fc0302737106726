// Streams of changes over the wire: what they send, to whom, and how they end.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { builtInRoles } from "../../../../src/authz/built-in-roles.ts";
import { createOrganization } from "../../../../src/services/iam/bootstrap.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { rest } from "../../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../../harness/server.ts";
import { type Watch, type WatchTransport, watch, watchTransports } from "../../../harness/watches.ts";

after(stopPostgres);

const roleOf = (name: string) => builtInRoles.find((role) => role.name === name)!.uid;

for (const database of databases)
  describe(`streams of changes on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ database });
    });
    after(() => server[Symbol.asyncDispose]());

    const open = (request: object = {}, transport: WatchTransport = "grpc", token = server.ownerToken): Watch =>
      watch(transport, { url: server.url, token }, { parent: server.groupUid, ...request });

    async function call(method: string, path: string, body?: unknown, token = server.ownerToken) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      return reply.body;
    }
    const newGroup = (name: string, parent = server.groupUid) =>
      call("POST", `/iam/v2beta1/groups/${encodeURIComponent(parent)}`, { name });
    /** Entries about access, such as denials, have no name. */
    const namesOf = ({ changes }: Awaited<ReturnType<Watch["next"]>>) =>
      changes.flatMap(({ after }) => after?.name ?? []);

    /** Reads until so many changes have come, and returns the names. */
    async function names(stream: Watch, count: number): Promise<unknown[]> {
      const found: unknown[] = [];
      while (found.length < count) found.push(...namesOf(await stream.nextChanges()));
      return found;
    }

    for (const transport of watchTransports)
      describe(`over ${transport}`, () => {
        it("the first response has a position and no changes, and each later change comes in order", async () => {
          await using stream = open({}, transport);
          const first = await stream.next();
          assert.deepEqual([first.changes, first.accessChanged, first.resumeAfter === ""], [[], false, false]);
          const wanted = [1, 2, 3].map((i) => `${transport} ${i}`.replaceAll(" ", "-").toLowerCase());
          for (const name of wanted) await newGroup(name);
          assert.deepEqual(await names(stream, 3), wanted);
        });

        it("a stream continues behind any response of another one", async () => {
          await using stream = open({}, transport);
          const { resumeAfter: start } = await stream.next();
          const wanted = ["a", "b", "c"].map((each) => `${transport.replaceAll(" ", "-").toLowerCase()}-${each}`);
          for (const name of wanted) await newGroup(name);
          await using again = open({ after: start }, transport);
          assert.deepEqual(await names(again, 3), wanted);
          const last = await newGroup(`${wanted[0]}-last`);
          const { resumeAfter } = await again.nextChanges();
          await using third = open({ after: resumeAfter }, transport);
          await third.next();
          const next = await newGroup(`${wanted[0]}-next`);
          assert.deepEqual(await names(third, 1), [next.name]);
          assert.notEqual(last.name, next.name);
        });

        it("an invalid request, a denied one and one without a token fail before the first response", async () => {
          await using invalid = open({ after: "nonsense" }, transport);
          assert.equal((await invalid.end()).code, "INVALID_ARGUMENT");
          await using denied = open({ parent: "f".repeat(40) }, transport);
          assert.equal((await denied.end()).code, "PERMISSION_DENIED");
          await using anonymous = open({}, transport, "none");
          assert.equal((await anonymous.end()).code, "UNAUTHENTICATED");
        });
      });

    it("the change has the fields that ListChanges gives it, but for the names in its sentence", async () => {
      await using stream = open();
      const { resumeAfter: after } = await stream.next();
      await newGroup("same-fields");
      const [change] = (await stream.nextChanges()).changes;
      const query = new URLSearchParams({ parent: server.groupUid, after });
      const { changes } = await call("GET", `/gatehouse/changes/v1/changes?${query}`);
      assert.deepEqual(
        [change!.id, change!.resourceUid, change!.method, change!.after, change!.sentence!.key, change!.actorClaims],
        [
          changes[0].id,
          changes[0].resourceUid,
          changes[0].method,
          changes[0].after,
          changes[0].sentence.key,
          changes[0].actorClaims,
        ],
      );
    });

    it("filters are those of ListChanges", async () => {
      const group = await newGroup("filtered");
      await using kinds = open({ kinds: ["identities"] });
      await using words = open({ query: "needle" });
      await using method = open({ method: "GroupsService/CreateGroup", resourceUid: group.uid });
      for (const stream of [kinds, words, method]) await stream.next();
      await newGroup("needle-in-a-haystack");
      await newGroup("below", group.uid);
      const claimMatch = { issuer: "https://issuer.example.org", subject: "filtered" };
      await call("POST", `/iam/v2beta1/identities/${server.groupUid}`, { name: "watched", claimMatch });
      assert.deepEqual(await names(kinds, 1), ["watched"]);
      assert.deepEqual(await names(words, 1), ["needle-in-a-haystack"]);
      assert.deepEqual(await names(method, 1), ["below"]);
    });

    it("a caller without the right to subscribe sees the kinds that it may list, without claims of actors", async () => {
      const { uid, token } = await newIdentity("lister");
      await bind(uid, roleOf("registry.pull"));
      await using stream = open({}, "grpc", token);
      await stream.next();
      await newIdentity("hidden-from-lister");
      const repo = await call("POST", `/registry/v2beta1/repos/${server.groupUid}`, { name: "seen" });
      const { changes } = await stream.nextChanges();
      assert.deepEqual(
        changes.map(({ resourceUid }) => resourceUid),
        [repo.uid],
      );
      assert.deepEqual(changes[0]!.actorClaims, {});
    });

    async function newIdentity(name: string) {
      const claimMatch = { issuer: "https://issuer.example.org", subject: name };
      const { uid } = await call("POST", `/iam/v2beta1/identities/${server.groupUid}`, { name, claimMatch });
      return { uid, token: await server.tokenOf(uid) };
    }
    const bind = (identityUid: string, roleUid: string) =>
      call("POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, { identityUid, roleUid });
    const unbind = (uid: string) => call("DELETE", `/iam/v2beta1/roleBindings/${encodeURIComponent(uid)}`);

    it("a response says that the caller may see more, or less, and a caller without rights is denied", async () => {
      const { uid, token } = await newIdentity("changing");
      const pull = await bind(uid, roleOf("registry.pull"));
      await using stream = open({}, "grpc", token);
      await stream.next();
      const owner = await bind(uid, roleOf("owner"));
      let response = await stream.next();
      while (!response.accessChanged) response = await stream.next();
      await newGroup("seen-as-owner");
      assert.ok((await names(stream, 1)).length > 0);
      await unbind(owner.uid);
      do response = await stream.next();
      while (!response.accessChanged);
      await unbind(pull.uid);
      assert.equal((await stream.end()).code, "PERMISSION_DENIED");
    });

    it("a change after a revocation is not shown, in 12 rounds", async () => {
      const { uid, token } = await newIdentity("revoked");
      for (let round = 0; round < 12; round++) {
        const binding = await bind(uid, roleOf("owner"));
        await using stream = open({ kinds: ["groups"] }, round % 2 === 0 ? "grpc" : "rest", token);
        await stream.next();
        await unbind(binding.uid);
        await newGroup(`secret-${round}`);
        const seen: unknown[] = [];
        const end = await stream.end((response) => seen.push(...namesOf(response)));
        assert.deepEqual(seen, []);
        // A database that does not respond in time ends a stream, too.
        assert.match(end.code, /^(?:PERMISSION_DENIED|UNAVAILABLE)$/);
      }
    });

    it("a stream shows nothing of another organization, and its position says nothing of it", async () => {
      const context = { actor: "", method: "test", requestId: "", time: Date.now() };
      const other = await server.server.database.write(context, (tx) =>
        createOrganization(tx, `other-${database}.example`, { issuer: "https://issuer.example.org", subject: "other" }),
      );
      const otherToken = await server.tokenOf(other.ownerUid);
      await using stream = open({}, "grpc", otherToken);
      assert.equal((await stream.end()).code, "PERMISSION_DENIED");
      await using own = watch("grpc", { url: server.url, token: otherToken }, { parent: other.groupUid });
      await own.next();
      await newGroup("not-for-others");
      await call("POST", `/iam/v2beta1/groups/${other.groupUid}`, { name: "own" }, otherToken);
      assert.deepEqual(await names(own, 1), ["own"]);
      await using foreign = watch(
        "grpc",
        { url: server.url, token: otherToken },
        {
          parent: other.groupUid,
          after: (
            await (async () => {
              await using mine = open();
              return await mine.next();
            })()
          ).resumeAfter,
        },
      );
      assert.equal((await foreign.end()).code, "INVALID_ARGUMENT");
    });

    it("a mirror that lists after the first response, and applies the stream, has what the list has", async () => {
      const root = await newGroup("mirrored");
      const writers = [0, 1, 2, 3].map(async (writer) => {
        for (let i = 0; i < 10; i++) {
          const { uid } = await newGroup(`m-${writer}-${i}`, root.uid);
          if (i % 3 === 0) await call("DELETE", `/iam/v2beta1/groups/${encodeURIComponent(uid)}`);
        }
      });
      await using stream = open({ parent: root.uid, kind: "groups" });
      await stream.next();
      const listed = async (): Promise<string[]> => {
        const query = new URLSearchParams({ "uidp.childrenOf": root.uid, pageSize: "200" });
        return (await call("GET", `/iam/v2beta1/groups?${query}`)).groups.map(({ uid }: { uid: string }) => uid);
      };
      const mirror = new Set(await listed());
      await Promise.all(writers);
      const last = await newGroup("m-last", root.uid);
      while (!mirror.has(last.uid))
        for (const { resourceUid, after } of (await stream.nextChanges()).changes) {
          if (after) mirror.add(resourceUid);
          else mirror.delete(resourceUid);
        }
      mirror.delete(root.uid);
      assert.deepEqual([...mirror].sort(), (await listed()).sort());
    });

    it("a stream that continues from far behind reads all changes in order", async () => {
      await using first = open();
      const { resumeAfter: after } = await first.next();
      const wanted = Array.from({ length: 230 }, (_, i) => `far-${i}`);
      for (let i = 0; i < wanted.length; i += 46)
        await Promise.all(wanted.slice(i, i + 46).map((name) => newGroup(name)));
      await using stream = open({ after, kind: "groups" });
      const found = await names(stream, 230);
      assert.deepEqual([...found].sort(), wanted.sort());
      assert.deepEqual(found, await names(first, 230));
    });

    it("the server ends streams with UNAVAILABLE when it stops, and a client continues at the next start", async () => {
      await using stopping = await startTestServer({ database });
      const target = { url: stopping.url, token: stopping.ownerToken };
      const streams = watchTransports.map((transport) => watch(transport, target, { parent: stopping.groupUid }));
      for (const stream of streams) await stream.next();
      const ends = Promise.all(streams.map((stream) => stream.end()));
      await stopping.server.drain();
      assert.deepEqual(
        (await ends).map(({ code }) => code),
        watchTransports.map(() => "UNAVAILABLE"),
      );
    });
  });
