// D11 and Q6: a database that is locked, and a process that is killed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import { dataDirectory, start } from "../cli/process.ts";
import { freePort } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { codeOf, openGround } from "./ground.ts";
import { viewerRole } from "./tree.ts";

/** How many bindings one batch makes. */
const batchSize = 20;

describe("the database", () => {
  it("D11: while another process holds the lock, writes are UNAVAILABLE, reads go on, and nothing is lost", async () => {
    await using ground = await openGround();
    const { groupUid, ownerToken, config, url } = ground.server;
    const create = () => rest(url, ownerToken, "POST", `/iam/v2beta1/groups/${groupUid}`, { name: "g" });
    const other = new BetterSqlite(config.databaseUrl);
    other.exec("BEGIN IMMEDIATE");
    const waiting = create();
    const read = await ground.everywhere(ownerToken, "GroupsService/GetGroup", { uid: groupUid });
    const { status, body, headers } = await waiting;
    other.exec("ROLLBACK");
    other.close();
    assert.equal(codeOf(read), "OK");
    assert.deepEqual([status, body.code, headers.get("retry-after")], [503, 14, "1"]);
    assert.equal((await create()).status, 200);
    const all = await rest(url, ownerToken, "GET", `/iam/v2beta1/groups?uidp.children_of=${groupUid}`);
    assert.equal(all.body.totalCount, "1");
  });

  it("Q6: killed in the middle of batches, it has each of them whole or not at all, and every one that was answered", async () => {
    using data = dataDirectory();
    const listen = `127.0.0.1:${await freePort()}`;
    const open = async () => {
      const server = start(["serve", "--dev", "--data-dir", data.path, "--listen", listen, "--log-level", "silent"]);
      await server.said(/owner-token/);
      const token = readFileSync(path.join(data.path, "owner-token"), "utf8");
      const call = (method: string, target: string, body?: unknown) =>
        rest(`http://${listen}`, token, method, `/iam/v2beta1/${target}`, body);
      return { server, call };
    };

    const first = await open();
    const { body: groups } = await first.call("GET", "groups?name=example.org");
    const parent: string = groups.groups[0].uid;
    const claimMatch = { issuer: "https://issuer.example.org", subject: "s" };
    const identityUids: string[] = [];
    for (let i = 0; i < batchSize; i++) {
      const { body } = await first.call("POST", `identities/${parent}`, { name: "i", claimMatch });
      identityUids.push(body.uid);
    }
    const batch = async () => {
      const { body: group } = await first.call("POST", `groups/${parent}`, { name: "batch" });
      const requests = identityUids.map((identityUid) => ({ roleBinding: { identityUid, roleUid: viewerRole.uid } }));
      const { status } = await first.call("POST", "roleBindings:batchCreate", { parent: group.uid, requests });
      assert.equal(status, 200);
      answered.push(group.uid);
      if (answered.length === 12) first.server.child.kill("SIGKILL");
    };
    const answered: string[] = [];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (;;)
          if (
            !(await batch().then(
              () => true,
              (error) => ignoreBroken(error),
            ))
          )
            return;
      }),
    );
    await first.server.finished;

    const second = await open();
    const { body: made } = await second.call("GET", "groups?name=batch&page_size=200");
    for (const { uid } of made.groups) {
      const { body } = await second.call("GET", `roleBindings?group=${encodeURIComponent(uid)}`);
      const allowed = answered.includes(uid) ? [batchSize] : [0, batchSize];
      assert.ok(allowed.includes(Number(body.totalCount)), `${uid} has ${body.totalCount}`);
    }
    const known = made.groups.map(({ uid }: { uid: string }) => uid);
    assert.deepEqual(
      answered.filter((uid) => !known.includes(uid)),
      [],
    );
    second.server.child.kill("SIGTERM");
    await second.server.finished;
  });
});

/** A connection that broke ends the loop of its client; anything else is a failure. */
function ignoreBroken(error: unknown): false {
  if (error instanceof assert.AssertionError) throw error;
  return false;
}
