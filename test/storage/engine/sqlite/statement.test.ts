// Statements of Drizzle that run directly on better-sqlite3 return what Drizzle returns.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import BetterSqlite from "better-sqlite3";
import type { BetterSQLite3Database } from "drizzle-orm/better-sqlite3";
import type { sqliteTable } from "drizzle-orm/sqlite-core";
import fc from "fast-check";
import { UniqueViolation } from "../../../../src/storage/engine/errors.ts";
import { limitOf, rowPlaceholders } from "../../../../src/storage/engine/placeholders.ts";
import type { Prepared } from "../../../../src/storage/engine/session.ts";
import { runSync } from "../../../../src/storage/engine/sqlite/statement.ts";
import { count, loadSqliteCore, loadSqliteDriver, sql } from "../../../../src/storage/schema/drizzle.ts";

const {
  integer,
  text,
  sqliteTable: table,
} = loadSqliteCore() as { sqliteTable: typeof sqliteTable } & ReturnType<typeof loadSqliteCore>;

const things = table("things", {
  uid: text().primaryKey(),
  parent: text(),
  size: integer(),
  isOpen: integer({ mode: "boolean" }).notNull(),
  more: text({ mode: "json" }).$type<unknown>(),
});

const columns = ["uid", "parent", "size", "isOpen", "more"] as const;

interface Thing {
  readonly uid: string;
  readonly parent: string | null;
  readonly size: number | null;
  readonly isOpen: boolean;
  readonly more: unknown;
}

/** JSON whose text is not `null`: Drizzle would store that as a text. */
const more = fc.oneof(fc.constant({}), fc.constant([]), fc.jsonValue()).filter((value) => value !== null);

const thing: fc.Arbitrary<Thing> = fc.record({
  uid: fc.uuid(),
  parent: fc.option(fc.string()),
  size: fc.option(fc.maxSafeInteger()),
  isOpen: fc.boolean(),
  // -0 is 0 in JSON.
  more: fc.option(more.map((value) => JSON.parse(JSON.stringify(value)) as unknown)),
});

const several = fc.uniqueArray(thing, { selector: ({ uid }) => uid, maxLength: 10 });

function openThings() {
  const connection = new BetterSqlite(":memory:");
  connection.exec("CREATE TABLE things (uid TEXT PRIMARY KEY, parent TEXT, size INTEGER, is_open INTEGER, more TEXT)");
  const db: BetterSQLite3Database = loadSqliteDriver().drizzle(connection, { casing: "snake_case" });
  const insert = runSync(db.insert(things).values(rowPlaceholders(columns)).prepare() as unknown as Prepared<unknown>);
  return { db, insert, [Symbol.dispose]: () => connection.close() };
}

/** Every shape of selected columns. */
function queriesOf(db: BetterSQLite3Database) {
  const size = sql<number>`coalesce(${things.size}, 0)`.mapWith(String);
  const wanted = sql`${things.isOpen} = ${sql.param(sql.placeholder("isOpen"), things.isOpen)}`;
  return {
    "all columns": db.select().from(things).orderBy(things.uid),
    "some columns": db.select({ more: things.more, uid: things.uid }).from(things).where(wanted).orderBy(things.uid),
    expressions: db
      .select({ size, named: size.as("named") })
      .from(things)
      .orderBy(things.uid),
    "a count": db.select({ count: count() }).from(things),
    "no more than": db.select().from(things).orderBy(things.uid).limit(limitOf("limit")),
    "objects of columns": db.select({ uid: things.uid, thing: things }).from(things).orderBy(things.uid),
    "what was changed": db.update(things).set({ parent: "x" }).where(wanted).returning({ uid: things.uid }),
    "what was deleted": db.delete(things).where(wanted).returning(),
  };
}

type Query = ReturnType<typeof queriesOf>["all columns"];

describe("statements on SQLite", () => {
  for (const name of Object.keys(queriesOf(openThings().db))) {
    it(`return ${name} as Drizzle does`, () => {
      const property = fc.property(several, fc.boolean(), fc.nat(5), (rows, isOpen, limit) => {
        const answers = [false, true].map((isOurs) => {
          using store = openThings();
          for (const row of rows) store.insert.execute({ ...row });
          const prepared = (queriesOf(store.db) as Record<string, unknown> as Record<string, Query>)[name]!.prepare();
          const values = { isOpen, limit };
          return isOurs ? runSync(prepared as unknown as Prepared<unknown>).execute(values) : prepared.all(values);
        });
        assert.deepEqual(answers[1], answers[0]);
      });
      fc.assert(property);
    });
  }

  it("need a value for every placeholder, and name the missing one", () => {
    using store = openThings();
    const row = { uid: "a", parent: null, size: 1, isOpen: true };
    assert.throws(() => store.insert.execute(row), /no value for more/);
    assert.deepEqual(store.db.select().from(things).all(), []);
  });

  it("translate errors of the database", () => {
    using store = openThings();
    const row = { uid: "a", parent: null, size: 1, isOpen: true, more: null };
    store.insert.execute(row);
    assert.throws(() => store.insert.execute(row), UniqueViolation);
  });
});
