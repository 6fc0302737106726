// A server that is killed while it closes an access review.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { rootOf } from "../../../src/model/uid.ts";
import { databases } from "../../harness/databases.ts";
import { newMigratedDatabase } from "../../harness/migrated.ts";
import { freePort, stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { createInstallation } from "../../history/installation.ts";
import { dataDirectory, type Running, serveWith } from "../process.ts";

const kills = 3;

/** How many role bindings one call creates. */
const batchSize = 25;

interface Item {
  readonly roleBindingUid: string;
  readonly decision: string;
}

after(stopPostgres);

for (const database of databases) {
  describe(`a server that is killed while it closes an access review, ${database}`, () => {
    const opened = new AsyncDisposableStack();
    after(() => opened.disposeAsync());

    it("decides each item once", async () => {
      const folder = opened.use(dataDirectory());
      const listen = `127.0.0.1:${await freePort()}`;
      const settings: Record<string, string> = {
        dataDir: folder.path,
        listen,
        baseUrl: `http://${listen}`,
        eventDelivery: "off",
        logLevel: "warn",
        ...(database === "postgres" && { databaseUrl: await newMigratedDatabase() }),
      };
      const { ownerToken, folders, people } = await createInstallation(settings);
      const root = rootOf(folders[0]!);
      // biome-ignore lint/suspicious/noExplicitAny: what it holds is what the test is about
      const call = async (method: string, target: string, body?: object): Promise<any> => {
        const reply = await rest(`http://${listen}`, ownerToken, method, target, body);
        assert.equal(reply.status, 200, `${method} ${target}: ${JSON.stringify(reply.body)}`);
        return reply.body;
      };
      const serve = async (): Promise<Running> => {
        const running = await serveWith(settings);
        opened.defer(() => void running.child.kill("SIGKILL"));
        return running;
      };

      let server = await serve();
      const roles = builtInRoles.filter(({ name }) => ["viewer", "editor", "registry.pull"].includes(name));
      for (const parent of folders)
        for (const { uid: roleUid } of roles)
          for (let i = 0; i < people.length; i += batchSize) {
            const batch = people.slice(i, i + batchSize);
            const requests = batch.map(({ uid: identityUid }) => ({ roleBinding: { identityUid, roleUid } }));
            await call("POST", "/iam/v2beta1/roleBindings:batchCreate", { parent, requests });
          }
      const { uid, itemCount } = await call("POST", `/access/v1/reviews/${root}`, {
        title: "all",
        dueTime: new Date(Date.now() + 7_200_000).toISOString(),
        onDue: "ACCESS_REVIEW_ON_DUE_END_UNCONFIRMED",
      });
      // With the role bindings of the owner, who is operator, too.
      assert.equal(itemCount, 2 + folders.length * roles.length * people.length);

      const review = () => call("GET", `/access/v1/reviews/${uid}`);
      await call("POST", `/access/v1/reviews/${uid}:close`, {});
      let interrupted = 0;
      for (let before = itemCount; interrupted < kills; interrupted++) {
        let pending = before;
        for (; pending === before; { pendingCount: pending = 0 } = await review());
        if (pending === 0) break;
        before = pending;
        server.child.kill("SIGKILL");
        await server.finished;
        server = await serve();
        before = (await review()).pendingCount ?? 0;
      }
      assert.ok(interrupted > 0, "the review was closed before the server could be killed");
      while ((await review()).state !== "ACCESS_REVIEW_STATE_CLOSED") await sleep(100);

      const items: Item[] = [];
      for (let pageToken = ""; ; ) {
        const page = await call("GET", `/access/v1/reviews/${uid}:items?pageSize=200&pageToken=${pageToken}`);
        items.push(...page.items);
        pageToken = encodeURIComponent(page.nextPageToken ?? "");
        if (pageToken === "") break;
      }
      assert.equal(new Set(items.map(({ roleBindingUid }) => roleBindingUid)).size, itemCount);
      const decisions = Map.groupBy(items, ({ decision }) => decision.replace("ACCESS_REVIEW_DECISION_", ""));
      assert.deepEqual([...decisions.keys()].sort(), ["KEPT_LAST_OWNER", "REVOKED"]);
      assert.equal(decisions.get("KEPT_LAST_OWNER")!.length, 1);
      const { revokedCount, keptLastOwnerCount } = await review();
      assert.deepEqual([revokedCount, keptLastOwnerCount], [itemCount - 1, 1]);
      const { roleBindings } = await call("GET", `/iam/v2beta1/roleBindings?uidp.descendants_of=${root}`);
      assert.equal(roleBindings.length, 1);
      assert.deepEqual(
        (await deletions(root, call)).sort(),
        decisions
          .get("REVOKED")!
          .map(({ roleBindingUid }) => roleBindingUid)
          .sort(),
      );
    });
  });
}

/** Returns the role bindings that the audit log says were deleted. */
async function deletions(
  parent: string,
  // biome-ignore lint/suspicious/noExplicitAny: the reply of any method
  call: (method: string, target: string) => Promise<any>,
): Promise<string[]> {
  const found: string[] = [];
  for (let pageToken = ""; ; ) {
    const query = `parent=${parent}&kind=role_bindings&pageSize=200&pageToken=${pageToken}`;
    const page = await call("GET", `/gatehouse/changes/v1/changes?${query}`);
    for (const { resourceUid, after } of page.changes ?? []) if (!after) found.push(resourceUid);
    pageToken = encodeURIComponent(page.nextPageToken ?? "");
    if (pageToken === "") return found;
  }
}
