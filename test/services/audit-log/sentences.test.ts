// The sentences about changes: whom they name for which reader, and which changes a list has.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create, fromJson } from "@bufbuild/protobuf";
import { type Sentence, SentenceSchema } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { en } from "../../../packages/client/src/sentences/en.ts";
import { sentenceText } from "../../../packages/client/src/sentences/sentence.ts";
import { newRoot } from "../../../src/model/uid.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addCaller, addGroup, addPerson, ownerRole, viewerRole } from "../../security/tree.ts";

after(stopPostgres);

/** A change as REST shows it. */
interface Seen {
  readonly kind: string;
  readonly actorUid: string;
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  readonly sentence: any;
}

for (const database of databases)
  describe(`sentences about changes (${database})`, () => {
    let server: TestServer;
    let root: string;
    let owner: { uid: string; token: string };
    let watcher: { uid: string; token: string };
    let workload: string;

    before(async () => {
      server = await startTestServer({ database });
      root = await addGroup(server, null, "example.org");
      owner = await addCaller(server, root, ownerRole.uid);
      watcher = await addCaller(server, root, viewerRole.uid);
      const claimMatch = { issuer: "https://issuer.example.org", subject: "ci" };
      workload = (await call("POST", `/iam/v2beta1/identities/${root}`, { name: "ci", claimMatch })).uid;
    });
    after(() => server[Symbol.asyncDispose]());

    async function call(method: string, path: string, body?: unknown, token = owner.token) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      return reply.body;
    }

    async function list(query: Readonly<Record<string, string>> | string[][], token = owner.token): Promise<Seen[]> {
      const parameters = new URLSearchParams([
        ["parent", root],
        ...(Array.isArray(query) ? query : Object.entries(query)),
      ]);
      return (await call("GET", `/gatehouse/changes/v1/changes?${parameters}`, undefined, token)).changes;
    }

    const textsOf = (changes: readonly Seen[]) =>
      changes.map(({ sentence }) =>
        sentenceText(fromJson(SentenceSchema, sentence) as Sentence, { language: "en", texts: en }),
      );
    const give = (identityUid: string) =>
      call("POST", `/iam/v2beta1/roleBindings/${root}`, { identityUid, roleUid: viewerRole.uid });

    it("names a person who has joined, and only the uid of one who has not", async () => {
      const ana = await addPerson(server, "ana lopez", "ana@example.org", root);
      const guest = await addPerson(server, "guest", "guest@secret.example", undefined);
      for (const uid of [ana, guest]) await give(uid);
      const [toGuest, toAna] = await list({ kind: "role_bindings", pageSize: "2" });
      const [guestText, anaText] = textsOf([toGuest!, toAna!]);
      assert.match(anaText!, / gave ana lopez the role viewer in example\.org$/);
      assert.match(guestText!, / gave Not joined yet \([0-9a-f]{4}…[0-9a-f]{4}\) the role viewer/);
      assert.doesNotMatch(JSON.stringify(toGuest!.sentence), /guest|secret/);
    });

    it("calls a person without a role or membership here a former member, whether or not the account exists", async () => {
      const states: unknown[] = [];
      for (const uid of [newRoot(), await addPerson(server, "leaver", "leaver@other.example", undefined)]) {
        await call("DELETE", `/iam/v2beta1/roleBindings/${(await give(uid)).uid}`);
        const [change] = await list({ kind: "role_bindings", pageSize: "1" });
        const { uid: _, ...part } = change!.sentence.parts.identity;
        states.push(part);
        assert.match(textsOf([change!])[0]!, / took the role viewer in example\.org from a former member$/);
      }
      assert.deepEqual(states[0], states[1]);
    });

    it("names what was deleted by its last name, for callers who may list its kind", async () => {
      await give(workload);
      await call("DELETE", `/iam/v2beta1/identities/${workload}`);
      const given = await list([
        ["kinds", "role_bindings"],
        ["pageSize", "50"],
      ]);
      const texts = textsOf(given).filter((text) => text.includes("deleted workload"));
      assert.match(texts.at(-1)!, / gave a deleted workload \(ci\) the role viewer in example\.org$/);
      const seen = await list({ kind: "role_bindings" }, watcher.token);
      assert.ok(textsOf(seen).some((text) => text.includes("a deleted workload (ci)")));
    });

    it("names nobody to callers who may not read people, and nothing of kinds that they may not list", async () => {
      const role = await call("POST", `/iam/v2beta1/roles/${root}`, {
        name: "groups only",
        capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_EVENTS_SUBSCRIPTION_CREATE"],
      });
      const stranger = await addCaller(server, root, role.uid);
      const changes = await list(
        [
          ["kinds", "role_bindings"],
          ["kinds", "identities"],
        ],
        stranger.token,
      );
      assert.ok(changes.length > 3);
      for (const { sentence } of changes) {
        const { actor, identity, resource } = sentence.parts;
        for (const part of [actor, identity, resource].filter(
          (one) => one?.uid !== undefined && one.uid !== stranger.uid,
        ))
          assert.deepEqual([part.name ?? "", part.kind ?? "", part.state], ["", "", "NAME_STATE_HIDDEN"], sentence.key);
      }
    });

    it("lists what several identities have done, the changes of a name, and what was denied", async () => {
      const name = "zebra crossing";
      await call("POST", `/iam/v2beta1/groups/${root}`, { name });
      const by = async (...uids: string[]) =>
        new Set((await list(uids.map((uid) => ["actorUids", uid]))).map(({ actorUid }) => actorUid));
      assert.deepEqual(await by(owner.uid, watcher.uid), new Set([owner.uid]));
      assert.equal((await list({ actorUid: watcher.uid, actorUids: owner.uid })).length > 0, true);
      assert.deepEqual(
        textsOf(await list({ query: "cross" })).map((text) => text.slice(text.indexOf("created"))),
        [`created the group ${name}`],
      );
      assert.deepEqual(await list({ query: "cross", outcome: "OUTCOME_DENIED" }), []);
      assert.ok((await list({ excludedKinds: "groups" })).every(({ kind }) => kind !== "groups"));
    });
  });

it("a sentence of a later server has a text", () => {
  const sentence = create(SentenceSchema, { key: "quotas.raised", parts: { actor: { name: "ana" } } });
  assert.match(
    sentenceText(sentence, { language: "en", texts: en }),
    /^ana changed something of the kind quotas\.raised$/,
  );
});
