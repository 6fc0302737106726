// Databases of the 28 migrations that the first migration replaces (docs/design/database.md). `adopted/*.sql.gz` are dumps of
// databases that commit d01e5454 made and filled through its API. The schema of this version with the old rows of the
// migrations table would be smaller, but only a dump shows that a new database gets the schema of an adopted one. Signing
// keys and encrypted settings are left out of the dumps: a server makes them at its start.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import BetterSqlite from "better-sqlite3";
import pg from "pg";
import type { JsonObject } from "../../../src/base/json.ts";
import { collections } from "../../../src/services/resources.ts";
import { checkDatabase } from "../../../src/storage/check/check-database.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { DatabaseVersionMismatch } from "../../../src/storage/engine/errors.ts";
import { eq } from "../../../src/storage/schema/drizzle.ts";
import { databases } from "../../harness/databases.ts";
import { newPostgresDatabase, stopPostgres } from "../../harness/postgres.ts";
import { isQuick } from "../../harness/quick.ts";
import { rest } from "../../harness/rest.ts";
import { type EmptyServer, startEmptyServer } from "../../harness/server.ts";
import { schemaOfPostgres, schemaOfSqlite } from "./schema-of.ts";

after(stopPostgres);

interface Dialect {
  readonly name: "sqlite" | "postgres";
  readonly migrationsTable: string;
  /** The URL of a new database without tables. */
  newUrl(): Promise<string>;
  run(url: string, statements: string): Promise<void>;
  schemaOf(url: string): string[] | Promise<string[]>;
}

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-adopted-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

const sqlite: Dialect = {
  name: "sqlite",
  migrationsTable: "__drizzle_migrations",
  newUrl: async () => path.join(folder, `${files++}.db`),
  async run(url, statements) {
    new BetterSqlite(url).exec(statements).close();
  },
  schemaOf: schemaOfSqlite,
};

const postgres: Dialect = {
  name: "postgres",
  migrationsTable: "drizzle.__drizzle_migrations",
  newUrl: () => newPostgresDatabase(),
  async run(url, statements) {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(statements);
    await client.end();
  },
  schemaOf: schemaOfPostgres,
};

/** Restores the dump of the old migrations. */
async function restore(dialect: Dialect): Promise<string> {
  const dump = readFileSync(new URL(`adopted/${dialect.name}.sql.gz`, import.meta.url));
  const url = await dialect.newUrl();
  await dialect.run(url, gunzipSync(dump).toString());
  return url;
}

for (const dialect of [sqlite, postgres].filter(({ name }) => databases.includes(name))) {
  describe(`a database that has all old migrations, ${dialect.name}`, () => {
    let url: string;
    before(async () => {
      url = await restore(dialect);
    });

    it("is not migrated to the first migration, and has the schema of a new one", async () => {
      const migrated: string[] = [];
      const database = await openDatabase(url, defaultDatabaseLimits, "existing", (applied) =>
        migrated.push(...applied.map(({ name }) => name)),
      );
      const { rows, findings } = await database.read((session) => checkDatabase(session, collections));
      await database.close();
      assert.ok(rows > 30);
      assert.deepEqual([findings, migrated.filter((name) => name.startsWith("0000"))], [[], []]);
      const fresh = await dialect.newUrl();
      await (await openDatabase(fresh, defaultDatabaseLimits)).close();
      assert.deepEqual(await dialect.schemaOf(url), await dialect.schemaOf(fresh));
    });

    it("serves its data, and accepts writes", async () => {
      await using running = await startEmptyServer({
        settings: { databaseUrl: url, baseUrl: "http://127.0.0.1:8080" },
      });
      const call = await ownerOf(running);
      const namesOf = (rows: readonly JsonObject[], field = "name") => rows.map((row) => String(row[field])).toSorted();
      const { groups } = await call("GET", "/iam/v2beta1/groups");
      assert.deepEqual(namesOf(groups), ["example.org", "team"]);
      assert.deepEqual(namesOf((await call("GET", "/registry/v2beta1/repos")).repos), ["app"]);
      assert.deepEqual(namesOf((await call("GET", "/registry/v2beta1/tags")).tags), ["latest"]);
      const search = async (text: string) =>
        namesOf((await call("GET", `/vulnerabilities/v2beta1/advisories?query=${text}`)).advisories, "artifactName");
      assert.deepEqual(await search("cve-2024"), ["left", "middle", "right"]);
      assert.deepEqual(await search("igh"), ["right"]);
      const parent = groups.find(({ name }: JsonObject) => name === "team").uid;
      await call("POST", `/registry/v2beta1/repos/${parent}`, { name: "later" });
      assert.deepEqual(namesOf((await call("GET", "/registry/v2beta1/repos")).repos), ["app", "later"]);
    });
  });

  describe(`a database that lacks old migrations, ${dialect.name}`, () => {
    // Opening reads only the table of migrations, so the rows of this table alone make an older database.
    it("is rejected whichever it lacks, with the commit to start, and stays as it is", async () => {
      const url = await restore(dialect);
      const schema = await dialect.schemaOf(url);
      const table = dialect.migrationsTable;
      for (let count = 27; count > 0; count--) {
        await dialect.run(url, `DELETE FROM ${table} WHERE created_at = (SELECT max(created_at) FROM ${table})`);
        if (isQuick && count % 9 > 0) continue;
        for (const mode of ["create", "existing"] as const)
          await assert.rejects(openDatabase(url, defaultDatabaseLimits, mode), (error) => {
            assert.ok(error instanceof DatabaseVersionMismatch, String(error));
            assert.match(error.message, /start commit d01e5454 of its repository \(d01e5454[0-9a-f]{32}\) once/);
            return true;
          });
      }
      assert.deepEqual(await dialect.schemaOf(url), schema);
    });
  });
}

/** Calls a server as the owner of the organization in the dumps. */
async function ownerOf({ url, server, config }: EmptyServer) {
  const issuer = "https://issuer.example.org";
  const [owner] = await server.database.session
    .prepared("test.owner", (db, { identities }) => db.select().from(identities).where(eq(identities.subject, "owner")))
    .execute({});
  const act = { iss: issuer, sub: "test", aud: config.baseUrl };
  const claims = { subject: owner!.uid, audience: [config.baseUrl], act, grants: {}, narrowing: {} };
  const { token } = await server.tokens.issue(claims);
  return async (method: string, route: string, body?: object) => {
    const response = await rest(url, token, method, route, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return response.body;
  };
}
