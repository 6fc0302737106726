// Pages of the delegations that one identity vouches for. Their kinds differ and their order is that of random uids, and an
// API case compares the text of its replies, which rules out a page in the middle.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer } from "../../harness/server.ts";
import { addCaller, ownerRole } from "../../security/tree.ts";

after(stopPostgres);

for (const database of databases) {
  it(`pages of one delegation list every delegation of a maker once, and none of others (${database})`, async () => {
    await using server = await startTestServer({ database });
    const root = server.groupUid;
    const maker = await addCaller(server, root, ownerRole.uid);
    const other = await addCaller(server, root, ownerRole.uid);

    async function call(token: string, method: string, path: string, body?: object) {
      const reply = await rest(server.url, token, method, path, body);
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    }
    const made: string[] = [];
    for (const token of [maker.token, maker.token, other.token]) {
      const invite = { roleUid: ownerRole.uid, ttl: "3600s" };
      const { uid } = await call(token, "POST", `/iam/v2beta1/groupInvites/${root}`, invite);
      if (token === maker.token) made.push(uid);
    }
    const subscription = { sink: "https://localhost/callback" };
    made.push((await call(maker.token, "POST", `/events/v2beta1/subscriptions/${root}`, subscription)).uid);

    const seen: string[] = [];
    let page = "";
    do {
      const query = new URLSearchParams({ parent: root, maker: maker.uid, page_size: "1", page_token: page });
      const reply = await call(maker.token, "GET", `/gatehouse/iam/v1/delegations?${query}`);
      assert.equal(reply.delegations.length, 1);
      seen.push(reply.delegations[0].uid);
      page = reply.nextPageToken ?? "";
    } while (page !== "" && seen.length < 10);
    assert.deepEqual(seen, made.toSorted());
  });
}
