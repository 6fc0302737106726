// Who may ask what by AuthZEN, and what the answers do not say.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import { newChild, newRoot } from "../../src/model/uid.ts";
import { deleteSuspension, insertSuspension } from "../../src/storage/iam/scim-suspensions.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { createProvider } from "../scim/provisioning.ts";
import { addRepo } from "../security/registry-tree.ts";
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
} from "../security/tree.ts";
import { ask, question } from "./ask.ts";

after(stopPostgres);

/** The response about all that a client may not know. */
const unknown = `{"decision":false,"context":{"reason":"NO_BINDING","role_binding_uids":[]}}\n`;

for (const database of databases) {
  describe(`questions of AuthZEN and other organizations on ${database}`, () => {
    let server: TestServer;
    let group: string;
    let gateway: { uid: string; token: string };
    let foreign: { group: string; below: string; repo: string; workload: string; confined: string; person: string };
    before(async () => {
      server = await startTestServer({ database });
      group = await addGroup(server, server.groupUid, "engineering");
      gateway = await addCaller(server, server.groupUid, viewerRole.uid);
      const other = await addGroup(server, null, "other.example");
      const below = await addGroup(server, other, "below");
      foreign = {
        group: other,
        below,
        repo: await addRepo(server, other),
        workload: (await addCaller(server, other, ownerRole.uid)).uid,
        confined: (await addCaller(server, below, ownerRole.uid)).uid,
        person: await addPerson(server, "eve", "eve@other.example", other),
      };
      await bind(server, other, foreign.person, ownerRole.uid);
    });
    after(() => server[Symbol.asyncDispose]());

    const evaluate = (token: string, body: object) => ask(server, token, "evaluation", body);
    const decisionOf = async (token: string, body: object) => (await evaluate(token, body)).body?.decision;

    it("foreign and unknown subjects, and foreign and unknown resources, have the same bytes", async () => {
      const ci = await addIdentity(server, group);
      await bind(server, group, ci, ownerRole.uid);
      const subjects: readonly (readonly [type: string, id: string])[] = [
        ["identity", foreign.workload],
        ["identity", foreign.confined],
        ["identity", foreign.person],
        ["user", foreign.person],
        ["identity", newChild(foreign.group)],
        ["identity", newChild(foreign.below)],
        ["identity", newRoot()],
        ["user", newRoot()],
        ["identity", newChild(newRoot())],
        ["identity", newChild(server.groupUid)],
        ["user", "alice"],
        ["identity", ""],
      ];
      for (const [type, id] of subjects)
        assert.equal((await evaluate(gateway.token, question(id, "groups.list", group, "group", type))).text, unknown);
      const resources: readonly (readonly [type: string, id: string])[] = [
        ["group", foreign.group],
        ["group", foreign.below],
        ["group", "other.example"],
        ["group", "other.example/below"],
        ["group", "nothing.example"],
        ["group", newRoot()],
        ["repo", foreign.repo],
        ["repo", newChild(foreign.group)],
        ["identity", foreign.workload],
        ["identity", newChild(foreign.group)],
        ["group", newChild(group)],
        ["repo", newChild(group)],
        ["role", newChild(newRoot())],
        ["repo", "nginx"],
      ];
      for (const subject of [ci, gateway.uid, foreign.workload, foreign.person, "alice"])
        for (const [type, id] of resources)
          assert.equal((await evaluate(gateway.token, question(subject, "groups.list", id, type))).text, unknown, id);
    });

    it("a batch has the same answers, and what may not be asked does not hide the others", async () => {
      const [resource, action] = [{ type: "group", id: group }, { name: "groups.list" }];
      const { status, text } = await ask(server, gateway.token, "evaluations", {
        ...question(gateway.uid, "groups.list", group),
        evaluations: [
          {},
          { resource: { type: "group", id: foreign.group }, subject: { type: "identity", id: foreign.workload } },
          {},
        ],
      });
      const [first, second, third] = JSON.parse(text).evaluations;
      assert.deepEqual([status, first.decision, third], [200, true, first]);
      assert.equal(`${JSON.stringify(second)}\n`, unknown);
      const outside = { subject: { type: "user", id: "alice" }, action, resource, evaluations: [{}, {}] };
      assert.equal(
        (await ask(server, gateway.token, "evaluations", outside)).text,
        `{"evaluations":[${unknown.trim()},${unknown.trim()}]}\n`,
      );
    });

    it("a client asks about others where it holds role_bindings.list, and about itself anywhere", async () => {
      const lister = await addRole(server, group, [Capability.CAP_IAM_ROLE_BINDINGS_LIST]);
      const asking = await addCaller(server, group, lister, { home: server.groupUid });
      const puller = await addCaller(server, group, await addRole(server, group, [Capability.CAP_REPO_LIST]));
      const repo = await addRepo(server, group);
      assert.equal(await decisionOf(asking.token, question(puller.uid, "repo.list", repo, "repo")), true);
      assert.equal((await evaluate(asking.token, question(gateway.uid, "groups.list", server.groupUid))).text, unknown);
      // The binding is at a group where the client may not list role bindings.
      const above = await evaluate(asking.token, question(gateway.uid, "groups.list", group));
      assert.deepEqual(above.body, { decision: true, context: { reason: "GRANTED", role_binding_uids: [] } });
      assert.equal(await decisionOf(puller.token, question(puller.uid, "repo.list", repo, "repo")), true);
      assert.equal(await decisionOf(puller.token, question(puller.uid, "repo.delete", repo, "repo")), false);
      assert.equal(
        (await evaluate(puller.token, question(puller.uid, "repo.list", foreign.repo, "repo"))).text,
        (await evaluate(puller.token, question(puller.uid, "repo.list", newChild(foreign.group), "repo"))).text,
      );
    });

    it("a client that may ask about nobody else is told so, whether what it asks about exists or not", async () => {
      const puller = await addCaller(server, group, await addRole(server, group, [Capability.CAP_REPO_LIST]));
      const texts = new Set<string>();
      for (const [subject, id] of [
        [gateway.uid, group],
        [foreign.workload, foreign.group],
        [newChild(newRoot()), newRoot()],
      ])
        for (const endpoint of ["evaluation", "evaluations"]) {
          const { status, text } = await ask(server, puller.token, endpoint, question(subject!, "groups.list", id!));
          assert.equal(status, 403);
          texts.add(text);
        }
      assert.deepEqual(
        [...texts],
        ["Permission denied: the caller does not have the required capabilities: role_bindings.list anywhere\n"],
      );
    });

    it("a narrowed token asks only where it is valid, and does not say what else its identity holds", async () => {
      const elsewhere = await addGroup(server, server.groupUid, "elsewhere");
      const narrowed = await server.tokenOf(gateway.uid, { scopes: [group] });
      const other = await addCaller(server, elsewhere, viewerRole.uid, { home: server.groupUid });
      assert.equal(await decisionOf(narrowed, question(gateway.uid, "groups.list", group)), true);
      assert.deepEqual((await evaluate(narrowed, question(gateway.uid, "groups.list", elsewhere))).body.context, {
        reason: "TOKEN_NARROWED",
        role_binding_uids: [],
      });
      assert.equal((await evaluate(narrowed, question(other.uid, "groups.list", elsewhere))).text, unknown);
      assert.equal(await decisionOf(gateway.token, question(other.uid, "groups.list", elsewhere)), true);
    });

    it("a suspended person is denied at once, and allowed again when the suspension ends", async () => {
      const provider = await createProvider(server);
      const person = await addPerson(server, "kim", "kim@example.org", server.groupUid);
      await bind(server, server.groupUid, person, viewerRole.uid);
      const body = question(person, "groups.list", group, "group", "user");
      assert.equal(await decisionOf(gateway.token, body), true);
      await arrange(server, (tx) => insertSuspension(tx, provider, person));
      assert.deepEqual((await evaluate(gateway.token, body)).body, {
        decision: false,
        context: { reason: "IDENTITY_SUSPENDED", role_binding_uids: [] },
      });
      await arrange(server, (tx) => deleteSuspension(tx, provider, person));
      assert.equal(await decisionOf(gateway.token, body), true);
    });
  });
}
