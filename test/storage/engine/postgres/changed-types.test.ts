// A column gets another type while a server runs: PostgreSQL then rejects what connections prepared before.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import type { Session } from "../../../../src/storage/engine/session.ts";
import { readSetting, writeSetting } from "../../../../src/storage/engine/settings.ts";
import { sql } from "../../../../src/storage/schema/drizzle.ts";
import { newMigratedDatabase } from "../../../harness/migrated.ts";
import { stopPostgres } from "../../../harness/postgres.ts";

after(stopPostgres);

const context = { actor: "", method: "test", requestId: "", time: 1 };
const colour = (session: Session) => readSetting(session, "colour");

/** Each uses the same prepared statement, on a connection of its kind. */
const ways: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
  "a single read": async ({ session }) => await colour(session),
  "a read of the access epoch": async ({ accessEpoch }) => {
    accessEpoch.invalidate();
    await accessEpoch.current();
    return "red";
  },
  "a snapshot": (database) => database.read(colour),
  "a write": (database) => database.write(context, colour),
  "a write that may run with others": (database) => database.write({ ...context, isIndependent: true }, colour),
  "a large write": (database) => database.write({ ...context, isLarge: true }, colour),
};

describe("after a column got another type", () => {
  for (const [name, run] of Object.entries(ways))
    it(`${name} succeeds, also many at once on all connections`, async () => {
      const url = await newMigratedDatabase();
      const database = await openDatabase(url, defaultDatabaseLimits);
      await database.write(context, (tx) => writeSetting(tx, "colour", "red"));
      const many = () => Promise.all(Array.from({ length: 40 }, () => run(database)));
      await many();
      const client = new pg.Client(url);
      await client.connect();
      for (const type of ["varchar", "text"]) {
        await client.query(`ALTER TABLE settings ALTER COLUMN value TYPE ${type}`);
        assert.equal(await run(database), "red");
        assert.deepEqual([...new Set(await many())], ["red"]);
      }
      await client.end();
      await database.close();
    });
});

describe("after a session has lost its prepared statements, as behind a pooler", () => {
  it("a read and a write succeed", async () => {
    const url = await newMigratedDatabase();
    const database = await openDatabase(url, { ...defaultDatabaseLimits, poolSize: 2 });
    await database.write(context, (tx) => writeSetting(tx, "colour", "red"));
    const client = new pg.Client(url);
    await client.connect();
    await client.query(
      "CREATE FUNCTION forget() RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEALLOCATE ALL'; RETURN 'done'; END $$",
    );
    await client.end();
    const forget = async (session: Session) =>
      await session
        .prepared("test.forget", (db, { settings }) => db.select({ done: sql`forget()` }).from(settings).limit(1))
        .execute();
    for (const run of [ways["a single read"]!, ways["a write"]!]) {
      assert.equal(await run(database), "red");
      await forget(database.session);
      await Promise.all([1, 2].map(() => database.read(forget)));
      assert.equal(await run(database), "red");
    }
    await database.close();
  });
});
