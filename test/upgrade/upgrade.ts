// `npm run suites -- upgrade`: servers of two versions share a database under load. The new version takes over, and the old one comes
// back. The old version is the last release (build/release/last-release.json), with the packages of this version.
// Not a part of `npm test`, because it needs the history of the repository and half a minute or more for each upgrade.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { decodeJwt } from "jose";
import { environmentOf } from "../cli/process.ts";
import { freePort, newPostgresDatabase, stopPostgres } from "../harness/postgres.ts";
import { startExchanges } from "./exchanges.ts";
import { startLoad } from "./load.ts";
import { type Installation, startReplica } from "./replica.ts";
import { checkOut, lastRelease, releasedCommit, thisVersion, type Version, withMigrations } from "./versions.ts";

after(stopPostgres);

/** How many calls each server answers in each phase. No phase passes without load. */
const callsPerPhase = 100;

/** How many responses each server gives to workloads in each phase. */
const responsesPerPhase = 50;

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

/** Servers of both versions run on one PostgreSQL database at the same time. */
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
  const parent = await organizationOf(first, token);
  const load = running.use(startLoad(addresses, token, parent));
  const exchanges = running.use(await startExchanges(addresses, { baseUrl: place.baseUrl, ownerToken: token, parent }));
  const work = (...servers: readonly string[]) =>
    Promise.all(
      servers.flatMap((address) => [
        load.answeredBy(address, callsPerPhase),
        exchanges.answeredBy(address, responsesPerPhase),
      ]),
    );
  await work(first, second);

  await start(next, third);
  await work(first, second, third);

  assert.equal(await old[1].stop(), 0);
  const restarted = await start(before, second);
  await work(first, second, third);
  assert.equal(await old[0].stop(), 0);
  const later = await start(next, fourth);
  await work(fourth);
  assert.equal(await restarted.stop(), 0);
  await work(third, fourth);

  // Back to the version before, while the other one still runs.
  await start(before, first);
  await work(first);
  assert.equal(await later.stop(), 0);
  await work(first, third);

  await Promise.all([load.stop(), exchanges.stop()]);
  assert.deepEqual([load.results.failures, exchanges.failures], [[], []]);
  for (const [what, counts] of [
    ["calls", load.results.calls],
    ["responses to workloads", exchanges.responses],
  ] as const)
    console.log(`${what} of each server: ${addresses.map((address) => counts.get(address)).join(", ")}; failed: 0`);
  assert.match(await checkDatabase(next, place), /rows: counters and indexes agree with them/);
}

/** One server runs on a SQLite file at a time: the version before, the next one, the one before again, and the next one. */
async function upgradeFile(before: Version, next: Version): Promise<void> {
  const data = mkdtempSync(path.join(tmpdir(), "gatehouse-upgrade-"));
  const address = `127.0.0.1:${await freePort()}`;
  const secretsKey = randomBytes(32).toString("base64");
  const place = { databaseUrl: path.join(data, "gatehouse.db"), baseUrl: `http://${address}`, secretsKey };
  try {
    for (const version of [before, next, before, before, next]) {
      using server = await startReplica(version, place, address);
      const token = server.ownerToken();
      using load = startLoad([address], token, await organizationOf(address, token));
      await load.answeredBy(address, callsPerPhase);
      await load.stop();
      assert.deepEqual(load.results.failures, [], version.name);
      assert.equal(await server.stop(), 0);
    }
    assert.match(await checkDatabase(next, place), /rows: counters and indexes agree with them/);
  } finally {
    rmSync(data, { recursive: true });
  }
}

/** Returns the root group, from the first page of the groups that the owner sees. */
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
  const commit = releasedCommit();
  const { version, commit: recorded } = lastRelease();
  const skip =
    commit === undefined &&
    `${recorded}, the commit of ${version}, is not in this clone; run git fetch --unshallow, or name another one in UPGRADE_FROM`;

  it("the upgrade from the last release on PostgreSQL fails no call and rejects no token, with a restart and a downgrade", {
    skip,
  }, async () => {
    using before = checkOut(commit!);
    console.log(`from ${before.name}`);
    await upgrade(before, thisVersion);
  });

  it("the upgrade from the last release on SQLite fails no call, with a downgrade and a restart", {
    skip,
  }, async () => {
    using before = checkOut(commit!);
    await upgradeFile(before, thisVersion);
  });

  it("the upgrade to a version that expands the schema fails no call", async () => {
    using next = withMigrations(...migrations);
    await upgrade(thisVersion, next);
  });

  it("the test finds a migration that removes data which the previous version needs", async () => {
    using next = withMigrations(tooEarly);
    await assert.rejects(upgrade(thisVersion, next), /CreateGroup at .*13 INTERNAL/);
  });
});
