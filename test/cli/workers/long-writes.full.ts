// A long write of one worker holds up what the others write themselves, and does not make it fail (SQLite).
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../../harness/postgres.ts";
import { dataDirectory, type Running, start } from "../process.ts";

const groupCount = 5000;
const issuer = "https://workloads.example.org";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** Returns an ID token of the workload. */
function subjectToken(audience: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: "workload", aud: audience, iat: now, exp: now + 600 };
  const signed = `${part({ alg: "RS256", kid: "own" })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

describe("a long write on SQLite with two workers", () => {
  const data = dataDirectory();
  let url: string;
  let ownerToken: string;
  let identityUid: string;
  let groupUid: string;
  let server: Running;

  async function post(target: string, body: object, token = ownerToken) {
    // Each on a connection of its own: the primary deals them to the workers in turn.
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" };
    const response = await fetch(url + target, { method: "POST", headers, body: JSON.stringify(body) });
    // biome-ignore lint/suspicious/noExplicitAny: the responses of several methods
    return { status: response.status, body: (await response.json()) as any };
  }

  /** Creates an identity with static keys and the groups to delete. The server then has one process. */
  async function arrange(): Promise<void> {
    const iam = "/chainguard.platform.iam.v2beta1.";
    const group = await post(`${iam}GroupsService/CreateGroup`, { group: { name: "busy" } });
    const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "own", alg: "RS256" }] });
    const expiration = new Date(Date.now() + 86_400_000).toISOString();
    const staticKeys = { issuer, subject: "workload", issuerKeys: jwks, expiration };
    const identity = await post(`${iam}IdentitiesService/CreateIdentity`, {
      parent: group.body.uid,
      identity: { name: "workload", staticKeys },
    });
    assert.equal(identity.status, 200, JSON.stringify(identity.body));
    identityUid = identity.body.uid;
    const children = Array.from({ length: groupCount }, (_, i) => ({ group: { group: "all", name: `group-${i}` } }));
    const resources = [{ group: { name: "all" } }, ...children];
    const applied = await post("/gatehouse.apply.v1.ApplyService/ApplyResources", {
      groupUid: group.body.uid,
      resources,
    });
    groupUid = applied.body.changes.find(({ name }: { name: string }) => name === "all").uid;
  }

  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const where = ["--data-dir", data.path, "--listen", `127.0.0.1:${port}`];
    const single = start(["serve", "--dev", ...where]);
    await single.said(/owner-token/);
    ownerToken = readFileSync(path.join(data.path, "owner-token"), "utf8").trim();
    await arrange();
    single.child.kill("SIGTERM");
    await single.finished;
    server = start(["serve", "--workers", "2", "--base-url", url, ...where]);
    await server.said(/secrets/);
  });
  after(async () => {
    server.child.kill("SIGTERM");
    await once(server.child, "close");
    data[Symbol.dispose]();
  });

  it("token exchanges on all workers succeed while a deletion of 5000 groups holds the writer", async () => {
    const token = subjectToken(url);
    const headers = { authorization: `Bearer ${token}`, connection: "close" };
    const exchange = () => fetch(`${url}/sts/exchange?aud=${url}&identity=${identityUid}`, { method: "POST", headers });
    assert.equal((await exchange()).status, 200);
    const deletion = post("/gatehouse.apply.v1.ApplyService/DestroySubtree", { groupUid });
    let isDeleted = false;
    void deletion.finally(() => {
      isDeleted = true;
    });
    const statuses: number[] = [];
    while (!isDeleted) {
      const found = await Promise.all([exchange(), exchange(), exchange(), exchange()]);
      statuses.push(...found.map(({ status }) => status));
    }
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal((await deletion).status, 200);
  });
});
