// Pinned and refused names on the command line.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { keyPair, signOutside, startIssuer } from "../sts/outside.ts";
import { type Caller, createWorkload, startCaller } from "./caller.ts";

let caller: Caller;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let identity: string;
const key = keyPair("ES256");

/** Exchanges a token of a project of a GitLab server. */
async function exchange(projectId: string): Promise<number> {
  const { url, config } = caller.server;
  const exp = Math.floor(Date.now() / 1000) + 600;
  const project = { project_path: "acme/app", project_id: projectId };
  const token = await signOutside(key, { iss: issuer.url, sub: "ci", aud: config.baseUrl, exp, ...project });
  const query = new URLSearchParams({ aud: config.baseUrl, identity });
  return (await rest(url, token, "GET", `/sts/exchange?${query}`)).status;
}

describe("gatehouse iam trust describe and accept", () => {
  before(async () => {
    caller = await startCaller();
    issuer = await startIssuer(key);
    identity = await createWorkload(caller, issuer.url);
    const { url, ownerToken } = caller.server;
    const pins = { pinnedNames: [{ kind: "project", name: "acme/app", id: "74" }] };
    const pinned = await rest(
      url,
      ownerToken,
      "PATCH",
      `/gatehouse/iam/v1/trust/${identity}?update_mask=pinnedNames`,
      pins,
    );
    assert.equal(pinned.status, 200, JSON.stringify(pinned.body));
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await caller[Symbol.asyncDispose]();
  });

  it("describe lists pinned and refused names; accept asks, pins the id that it is told, and says if there is nothing to accept", async () => {
    const none = await caller.run("iam", "trust", "accept", "ci", "--yes");
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no name of ci was refused/);
    assert.deepEqual([await exchange("75"), await exchange("76")], [403, 403]);
    const { stdout } = await caller.run("iam", "trust", "describe", "ci");
    assert.match(stdout, /^KIND +NAME +ID +STATE +SINCE\n/);
    assert.match(stdout, /^project +acme\/app +74 +pinned +\d{4}-\d\d-\d\d$/m);
    assert.match(stdout, /^project +acme\/app +75 +refused: another id than the pinned one +\d{4}-\d\d-\d\d$/m);
    const several = await caller.run("iam", "trust", "accept", "ci", "--yes");
    assert.equal(several.code, 1);
    assert.match(several.stderr, /was refused with several ids: choose by --id/);
    const unasked = await caller.run("iam", "trust", "accept", "ci", "--id", "75");
    assert.equal(unasked.code, 2);
    assert.match(unasked.stderr, /project acme\/app: 75/);
    const accepted = await caller.run("iam", "trust", "accept", "ci", "--id", "75", "--yes");
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.match(accepted.stdout, /^project +acme\/app +75 +pinned, accepted +/m);
    assert.deepEqual([await exchange("75"), await exchange("74")], [200, 403]);
  });
});
