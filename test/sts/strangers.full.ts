// An exchange that names its group, while other organizations create and delete identities for the same subject.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";
import { basic, getToken } from "../registry/sign-in.ts";
import { addCaller, addGroup, bind, ownerRole, viewerRole } from "../security/tree.ts";
import { keyPair, signOutside, startIssuer } from "./outside.ts";

after(stopPostgres);

/** The identities of each of ten organizations. */
const identities = 100;

for (const database of databases)
  it(`1,000 identities that ten organizations create and delete for the subject of a workload change nothing for it, ${database}`, async () => {
    const key = keyPair("ES256");
    await using issuer = await startIssuer(key);
    await using server = await startTestServer({ database });
    const claimMatch = { issuer: issuer.url, subject: "job" };
    const call = async (token: string, method: string, path: string, request?: object) => {
      const { status, body } = await rest(server.url, token, method, path, request);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    };
    const add = async (token: string, group: string, name: string): Promise<string> =>
      (await call(token, "POST", `/iam/v2beta1/identities/${group}`, { name, claimMatch })).uid;
    const own = await add(server.ownerToken, server.groupUid, "job");
    await bind(server, server.groupUid, own, viewerRole.uid);
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const token = await signOutside(key, { iss: issuer.url, sub: "job", aud: server.config.baseUrl, exp });
    const ask = async () => {
      const query = new URLSearchParams({ aud: server.config.baseUrl, scope: server.groupUid });
      const exchanged = await call(token, "GET", `/sts/exchange?${query}`);
      const registry = await getToken(server.url, basic(server.groupUid, token), []);
      return [JSON.parse(atob(exchanged.token.split(".")[1])).sub, registry.status];
    };

    /** Creates the identities of an organization, and deletes all but one in ten again. */
    async function disturb(): Promise<void> {
      const group = await addGroup(server, null);
      const { token: stranger } = await addCaller(server, group, ownerRole.uid);
      for (let i = 0; i < identities; i++) {
        const uid = await add(stranger, group, `s${i}`);
        if (i % 10 !== 0) await call(stranger, "DELETE", `/iam/v2beta1/identities/${uid}`);
      }
    }

    assert.deepEqual(await ask(), [own, 200]);
    let isDisturbed = true;
    const outcomes: unknown[] = [];
    const asking = (async () => {
      while (isDisturbed) outcomes.push(await ask());
    })();
    await Promise.all(Array.from({ length: 10 }, disturb)).finally(() => {
      isDisturbed = false;
    });
    await asking;
    assert.ok(outcomes.length > 10, `it was asked ${outcomes.length} times`);
    for (const outcome of [...outcomes, await ask()]) assert.deepEqual(outcome, [own, 200]);
  });
