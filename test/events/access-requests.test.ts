// The events of access requests: each step has one of its own, and break-glass is not that of any other request.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import type { TestServer } from "../harness/server.ts";
import { addPerson, bind, ownerRole, viewerRole } from "../security/tree.ts";
import { callAsOwner, subscribe } from "./owner-calls.ts";
import { openSink, type Received, type Sink, startSendingServer } from "./sink.ts";

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;
const prefix = "dev.gatehouse.access.request.";
const isOfRequest = ({ headers }: Received) => String(headers["ce-type"]).startsWith(prefix);

after(stopPostgres);

for (const database of databases) {
  describe(`events of access requests (${database})`, () => {
    let server: TestServer;
    let sink: Sink;
    before(async () => {
      server = await startSendingServer({ database });
      sink = await openSink();
      await subscribe(server, sink.url);
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    });

    it("each step of a request is one event, with the request as it is then", async () => {
      const root = server.groupUid;
      const call = callAsOwner(server);
      const person = async (name: string, roleUid: string) => {
        const uid = await addPerson(server, name, `${name}@example.org`, root);
        await bind(server, root, uid, roleUid);
        return await server.tokenOf(uid);
      };
      const [requester, approver] = [
        await person("requester", viewerRole.uid),
        await person("approver", ownerRole.uid),
      ];
      const path = "/access/v1/requests/";
      const roles = { roleUids: [editorRole.uid], eligibleRoleUids: [viewerRole.uid] };
      await call("POST", `/access/v1/requestRules/${root}`, { name: "rule", breakGlass: true, ...roles });
      const ask = async (more: object = {}): Promise<string> => {
        const wanted = { roleUid: editorRole.uid, reason: "INC-1", duration: "3600s", ...more };
        return (await call("POST", path + root, wanted, requester)).uid;
      };
      const steps: [string, string][] = [];
      const step = async (uid: string, action: string, type: string, token: string) => {
        await call("POST", `${path + uid}:${action}`, {}, token);
        steps.push([type, uid]);
      };
      const asked = async (type = "created", more = {}) => {
        const uid = await ask(more);
        steps.push([type, uid]);
        return uid;
      };
      const given = await asked();
      await step(given, "approve", "approved", approver);
      await step(given, "end", "ended", requester);
      await step(await asked(), "deny", "denied", approver);
      await step(await asked(), "cancel", "cancelled", requester);
      const taken = await asked("break_glass", { breakGlass: true });
      await step(taken, "acknowledge", "acknowledged", approver);
      const received = await sink.wait(steps.length, isOfRequest);
      assert.deepEqual(
        received.map(({ headers }) => [String(headers["ce-type"]).slice(prefix.length), headers["ce-subject"]]),
        steps.map(([type, uid]) => [`${type}.v1`, uid]),
      );
      assert.deepEqual([...new Set(received.map(({ headers }) => headers["ce-group"]))], [root]);
      const { body } = JSON.parse(received.at(-1)!.body);
      assert.deepEqual([body.uid, body.breakGlass, body.reason], [taken, true, "INC-1"]);
      assert.ok(body.acknowledgement.acknowledgeTime);
      assert.ok(!JSON.stringify(received).includes("mappings"), "a session is in no event");
    });
  });
}
