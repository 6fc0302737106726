// PostgreSQL as people set it up: schemas, search paths, rights, encodings and sockets.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pg from "pg";
import { type Database, openDatabase } from "../../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { DatabaseUnsuitable } from "../../../../src/storage/engine/errors.ts";
import type { OpenMode } from "../../../../src/storage/engine/migrations.ts";
import { readSetting, writeSetting } from "../../../../src/storage/engine/settings.ts";
import { newMigratedDatabase } from "../../../harness/migrated.ts";
import { newPostgresDatabase, stopPostgres } from "../../../harness/postgres.ts";
import { untilTrue } from "../../../harness/until.ts";

after(stopPostgres);

const context = { actor: "", method: "test", requestId: "", time: 1 };
const open = (url: string, mode?: OpenMode) => openDatabase(url, defaultDatabaseLimits, mode);
const write = (database: Database, value: string) =>
  database.write(context, async (tx) => {
    await writeSetting(tx, "colour", value);
    tx.logChange({ kind: "groups", uid: "a", groupUid: "a", before: null, after: {} });
  });
const read = (database: Database) => readSetting(database.session, "colour");

let roles = 0;

/** Returns a new role of the server of the tests. */
function newRole(): string {
  return `user_${process.pid}_${roles++}`;
}

/** Runs statements as superuser, and returns the rows of the last one. */
async function admin(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

const asRole = (url: string, role: string) => url.replace("postgres@", `${role}@`);
const withPath = (url: string, path: string) => `${url}?options=-c%20search_path%3D${path}`;

/** Returns the schemas of the table of groups and of the list of migrations. */
async function schemasOf(url: string): Promise<string[]> {
  const rows = await admin(
    url,
    "SELECT DISTINCT relnamespace::regnamespace::text AS name FROM pg_class WHERE relname IN ('groups', '__drizzle_migrations') ORDER BY 1",
  );
  return rows.map(({ name }) => String(name));
}

/** Returns a database whose installation is in `public` with the list of migrations in `drizzle`, as 0.3.0 leaves it. */
const databaseOf030 = () => newPostgresDatabase(install030);

async function install030(url: string): Promise<void> {
  const database = await open(url);
  await write(database, "older");
  await database.close();
  const [found] = await admin(url, "SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS is_older");
  if (!found?.is_older)
    await admin(url, "CREATE SCHEMA drizzle; ALTER TABLE public.__drizzle_migrations SET SCHEMA drizzle");
}

describe("an installation is in the schema of its connection", () => {
  for (const [name, setUp] of [
    [
      "of a schema that is named as the user",
      async (url: string, role: string, schema: string) => {
        await admin(url, `ALTER SCHEMA ${schema} RENAME TO ${role}`);
        return asRole(url, role);
      },
    ],
    [
      "of the search path of the role",
      async (url: string, role: string, schema: string) => {
        await admin(url, `ALTER ROLE ${role} SET search_path = ${schema}`);
        return asRole(url, role);
      },
    ],
    [
      "of the search path of the database",
      async (url: string, role: string, schema: string) => {
        await admin(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = ${schema}, public`);
        return asRole(url, role);
      },
    ],
    [
      "of the search path of the URL",
      async (url: string, role: string, schema: string) => withPath(asRole(url, role), schema),
    ],
  ] as const)
    it(`${name}, with its list of migrations, and without a right to create schemas`, async () => {
      const url = await newPostgresDatabase();
      const [role, schema] = [newRole(), `schema_${newRole()}`];
      await admin(url, `CREATE ROLE ${role} LOGIN`, `CREATE SCHEMA ${schema} AUTHORIZATION ${role}`);
      const ownUrl = await setUp(url, role, schema);
      const database = await open(ownUrl);
      await write(database, "red");
      await database.close();
      const again = await open(ownUrl, "migrated");
      assert.equal(await read(again), "red");
      await again.close();
      assert.deepEqual(await schemasOf(url), [name.includes("named as") ? role : schema]);
    });

  it("two installations of one database share neither rows nor locks", async () => {
    const url = await newPostgresDatabase();
    await admin(url, "CREATE SCHEMA one", "CREATE SCHEMA two");
    const [one, two] = [await open(withPath(url, "one")), await open(withPath(url, "two"))];
    await Promise.all([write(one, "one"), write(two, "two")]);
    assert.deepEqual([await read(one), await read(two)], ["one", "two"]);
    await using holder = await lockHolder(url);
    await write(one, "new");
    assert.equal(await read(one), "new");
    assert.deepEqual(await holder.waiting(), []);
    await Promise.all([one.close(), two.close()]);
  });

  it("a new installation in another schema is separate from that in public", async () => {
    const url = await databaseOf030();
    const role = newRole();
    await admin(url, `CREATE ROLE ${role} LOGIN`, `CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
    const own = await open(asRole(url, role));
    assert.equal(await read(own), undefined);
    await own.close();
    const older = await open(url);
    assert.equal(await read(older), "older");
    await older.close();
  });
});

/** Returns a session with the lock that servers of 0.3.0 take before they append to the change log. */
async function lockHolder(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock(7301002)");
  return {
    waiting: async () =>
      (
        await client.query(
          "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        )
      ).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

describe("an installation of 0.3.0, which is in public", () => {
  it("stays there, also where a schema is named as the user by now", async () => {
    const url = await databaseOf030();
    await admin(url, "CREATE SCHEMA postgres");
    const database = await open(url);
    assert.equal(await read(database), "older");
    await database.close();
    assert.deepEqual(await schemasOf(url), ["drizzle", "public"]);
  });

  it("waits for the lock that running servers of 0.3.0 take", async () => {
    const url = await databaseOf030();
    const database = await open(url);
    const holder = await lockHolder(url);
    const written = write(database, "red");
    await untilTrue(async () => (await holder.waiting()).length === 1);
    await holder[Symbol.asyncDispose]();
    await written;
    await database.close();
  });
});

describe("a database user without a right", () => {
  it("a user who may not create tables gets an error with the GRANT that helps", async () => {
    const url = await newPostgresDatabase();
    const role = newRole();
    await admin(url, `CREATE ROLE ${role} LOGIN`);
    const grant = await open(asRole(url, role)).then(
      () => assert.fail("it may not create tables"),
      (error: Error) => {
        assert.ok(error instanceof DatabaseUnsuitable, String(error));
        return /GRANT USAGE, CREATE ON SCHEMA "public" TO "\w+"/.exec(error.message)?.[0];
      },
    );
    await admin(url, grant!);
    await (await open(asRole(url, role))).close();
  });

  it("a user who may not use the tables gets an error with the GRANTs that help", async () => {
    for (const url of [await newMigratedDatabase(), await databaseOf030()]) {
      const role = newRole();
      await admin(url, `CREATE ROLE ${role} LOGIN`);
      const error = await open(asRole(url, role), "migrated").then(
        () => assert.fail("it may not use the tables"),
        (cause: Error) => cause,
      );
      assert.match(error.message, /^does not let the user "\w+" use \w+/);
      await admin(url, /run: (.*)$/.exec(error.message)![1]!);
      const database = await open(asRole(url, role), "migrated");
      await write(database, "red");
      await database.close();
    }
  });

  it("a user who may not write to one table gets an error that names it", async () => {
    const url = await newMigratedDatabase();
    const role = newRole();
    await admin(
      url,
      `CREATE ROLE ${role} LOGIN`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
      `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
      `REVOKE UPDATE ON groups FROM ${role}`,
    );
    await assert.rejects(open(asRole(url, role), "migrated"), /use groups in the schema public/);
  });
});

describe("a database that cannot have an installation is rejected", () => {
  it("a database with another encoding than UTF8 is rejected", async () => {
    const url = await newPostgresDatabase();
    const name = `latin1_${newRole()}`;
    await admin(url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
    await assert.rejects(open(url.replace(/\/\w+$/, `/${name}`)), /^DatabaseUnsuitable: has the encoding LATIN1, /);
  });

  it("a search path of which no schema exists is rejected", async () => {
    const url = await newPostgresDatabase();
    await assert.rejects(
      open(withPath(url, "no_such_schema")),
      /has no schema for the user "postgres": none of search_path \(no_such_schema\) exists/,
    );
  });
});

describe("a Unix socket", () => {
  it("is reached by its directory as a parameter", async () => {
    const url = await newMigratedDatabase();
    const [row] = await admin(url, "SELECT current_setting('unix_socket_directories') AS directory");
    const { port, pathname } = new URL(url);
    const database = await open(`postgres://postgres:p@${pathname}?host=${row?.directory}&port=${port}`);
    await write(database, "red");
    await database.close();
  });
});
