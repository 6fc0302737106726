// `npm run test:upgrade`: servers of two versions on one PostgreSQL database under load, of which the new one takes over.
// Not a part of `npm test`, because it needs the history of the repository and half a minute or more for each upgrade.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { decodeJwt } from "jose";
import { environmentOf } from "../cli/process.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { startLoad } from "./load.ts";
import { type Installation, startReplica } from "./replica.ts";
import { checkOut, commitBefore, startsOnNewer, thisVersion, type Version, withMigrations } from "./versions.ts";

after(stopPostgres);

/** How many calls each server answers in each phase. No phase passes without load. */
const callsPerPhase = 100;

const migrations = [
  ["9000_column", `ALTER TABLE "groups" ADD COLUMN "note" text DEFAULT '' NOT NULL;`],
  ["9001_index", `CREATE INDEX "groups_note" ON "groups" ("note");`],
] as const;

/** A contract step that is not one of a later release: the version before inserts no value. */
const tooEarly = [
  "9000_too_early",
  `ALTER TABLE "groups" ADD COLUMN "note" text DEFAULT '' NOT NULL;
--> statement-breakpoint
ALTER TABLE "groups" ALTER COLUMN "note" DROP DEFAULT;`,
] as const;

async function upgrade(before: Version, next: Version): Promise<void> {
  await using running = new AsyncDisposableStack();
  const addresses = await Promise.all(Array.from({ length: 4 }, async () => `127.0.0.1:${await freePort()}`));
  const [first, second, third, fourth] = addresses as [string, string, string, string];
  const place: Installation = {
    databaseUrl: await newPostgresDatabase(),
    baseUrl: `http://${first}`,
    secretsKey: randomBytes(32).toString("base64"),
  };
  const start = async (version: Version, address: string) => running.use(await startReplica(version, place, address));

  const old = [await start(before, first), await start(before, second)] as const;
  const token = old[0].ownerToken();
  const load = running.use(startLoad(addresses, token, await organizationOf(first, token)));
  await Promise.all([first, second].map((address) => load.answeredBy(address, callsPerPhase)));

  await start(next, third);
  await Promise.all([first, second, third].map((address) => load.answeredBy(address, callsPerPhase)));

  assert.equal(await old[1].stop(), 0);
  let last: (typeof old)[1] | undefined;
  if (startsOnNewer(before)) {
    last = await start(before, second);
    await Promise.all([first, second, third].map((address) => load.answeredBy(address, callsPerPhase)));
  }
  assert.equal(await old[0].stop(), 0);
  await start(next, fourth);
  await load.answeredBy(fourth, callsPerPhase);
  if (last) assert.equal(await last.stop(), 0);
  await Promise.all([third, fourth].map((address) => load.answeredBy(address, callsPerPhase)));

  await load.stop();
  assert.deepEqual(load.results.failures, []);
  const served = addresses.map((address) => load.results.calls.get(address));
  console.log(`calls of each server: ${served.join(", ")}; failed: ${load.results.failures.length}`);
  assert.match(await checkDatabase(next, place), /rows: counters and indexes agree with them/);
}

/** The root group, from the first page of the groups that the owner sees. */
async function organizationOf(address: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`http://${address}/iam/v2beta1/groups?name=example.org`, { headers });
  assert.equal(response.status, 200, `the token of ${decodeJwt(token).sub}`);
  const { groups } = (await response.json()) as { groups: { uid: string }[] };
  return groups[0]!.uid;
}

async function checkDatabase({ folder }: Version, { databaseUrl, secretsKey }: Installation): Promise<string> {
  const program = path.join(folder, "src/gatehouse.js");
  const args = [program, "db", "check", "--database-url", databaseUrl];
  return (
    await promisify(execFile)(process.execPath, args, {
      env: environmentOf({ GATEHOUSE_SECRETS_KEY: secretsKey }),
    })
  ).stdout;
}

describe("an upgrade of servers under load has no failed call", () => {
  const commit = commitBefore();
  const skip = commit === undefined && "the history of the repository is not here, as in a shallow clone";

  it("from the commit before", { skip }, async () => {
    using before = checkOut(commit!);
    console.log(`from ${before.name}`);
    await upgrade(before, thisVersion);
  });

  it("to a version that expands the schema", async () => {
    using next = withMigrations(...migrations);
    await upgrade(thisVersion, next);
  });

  it("unless a migration removes what the version before needs, which this test would find", async () => {
    using next = withMigrations(tooEarly);
    await assert.rejects(upgrade(thisVersion, next), /CreateGroup at .*13 INTERNAL/);
  });
});
