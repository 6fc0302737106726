// The query plans of statements on SQLite and PostgreSQL.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import BetterSqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { readHistory } from "../../src/storage/change-log/history.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../src/storage/engine/dialect.ts";
import { postgresDialect } from "../../src/storage/engine/postgres/dialect.ts";
import { sessionSettings } from "../../src/storage/engine/postgres/session-settings.ts";
import { newSession, type Queries, type Runner, type Session } from "../../src/storage/engine/session.ts";
import { sqliteDialect } from "../../src/storage/engine/sqlite/dialect.ts";
import { type Cursor, countRows, listRows, type Source } from "../../src/storage/list/list-rows.ts";
import { tagCondition } from "../../src/storage/registry/repos-and-tags.ts";
import { loadSqliteDriver } from "../../src/storage/schema/drizzle.ts";
import { advisoryCollection } from "../../src/storage/vulnerabilities/rows.ts";
import { triageCondition } from "../../src/storage/vulnerabilities/triage-condition.ts";
import { groups, tags, uidOf } from "./fixtures.ts";
import { orders } from "./forest.ts";

/** The plan of one statement, one line per step. */
export interface PagePlan {
  readonly name: string;
  readonly plan: readonly string[];
}

const condition = tagCondition({
  includeReferrers: false,
  includeDates: true,
  includeEpochs: true,
  updatedSince: undefined,
});
/** The organization whose rows the statements read. */
export const root = uidOf(null, "root");
const sources: readonly Source[] = [
  { type: "subtree", uid: root },
  { type: "children", uid: root },
  { type: "children", uid: null },
];

/**
 * Returns the plans of first and later pages and large offsets, of every kind of range in every order, and of the
 * change log.
 */
export async function explainPages(): Promise<PagePlan[]> {
  return await explainOn(explainLists);
}

/** Returns the plans of a search on SQLite. */
export async function explainSearch(): Promise<PagePlan[]> {
  return await explainOn(searchAdvisories);
}

/** Reads the total and the first and a later page of critical advisories that are affected, the newest first. */
export async function searchAdvisories(session: Session, name: (text: string) => void): Promise<void> {
  const critical = { latestEventType: 2, bands: [[90, 100]], minScore: undefined, publishedAfter: undefined } as const;
  const query = {
    sources: [{ type: "subtree", uid: root }] as const,
    filters: {},
    condition: triageCondition(critical, undefined),
    order: { field: "publishTime", descending: true } as const,
    skip: 0,
    limit: 50,
  };
  name("total");
  await countRows(session, advisoryCollection, query);
  name("first page");
  await listRows(session, advisoryCollection, { ...query, after: undefined });
  name("page behind a row");
  await listRows(session, advisoryCollection, { ...query, after: { value: 7, uid: root } });
}

/** Runs statements, which are explained instead; `name` names those that follow. */
export type Explained = (session: Session, name: (text: string) => void) => Promise<void>;

/** Explains statements on a new database. */
async function explainOn(run: Explained): Promise<PagePlan[]> {
  const directory = mkdtempSync(path.join(tmpdir(), "gatehouse-plans-"));
  try {
    const file = path.join(directory, "gatehouse.db");
    await (await openDatabase(file, defaultDatabaseLimits)).close();
    return await explainOnSqlite(file, run);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the plans of statements on a database of SQLite. */
export async function explainOnSqlite(file: string, run: Explained): Promise<PagePlan[]> {
  const connection = new BetterSqlite(file);
  try {
    return await explainIn(connection, run);
  } finally {
    connection.close();
  }
}

/** The modes in which PostgreSQL plans a prepared statement: for its values, or for any values. */
export const planModes = ["force_custom_plan", "force_generic_plan"] as const;

/** Returns the plans of statements on a database of PostgreSQL, in a session with the settings of the program. */
export async function explainOnPostgres(
  url: string,
  mode: (typeof planModes)[number],
  run: Explained,
): Promise<PagePlan[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`${sessionSettings(defaultDatabaseLimits)}; SET plan_cache_mode = ${mode}`);
    const statements: [query: string, values: unknown[], name: string][] = [];
    let name = "";
    const logger = { logQuery: (query: string, values: unknown[]) => void statements.push([query, values, name]) };
    const queries = drizzle(client, { casing: "snake_case", logger }) as unknown as Queries;
    await run(newSession(queries, { ...postgresDialect, termTime: Date.now }, loggedRunner), (text) => {
      name = text;
    });
    const plans: PagePlan[] = [];
    for (const [i, [query, values, shown]] of statements.entries()) {
      await client.query(`PREPARE explained_${i} AS ${query}`);
      const literals = values.map((value) => (typeof value === "number" ? value : pg.escapeLiteral(String(value))));
      const { rows } = await client.query(`EXPLAIN (COSTS OFF) EXECUTE explained_${i}(${literals.join(", ")})`);
      plans.push({ name: shown, plan: rows.map((row) => row["QUERY PLAN"]) });
    }
    return plans;
  } finally {
    await client.end();
  }
}

/** Runs statements through Drizzle, which logs them. */
const loggedRunner: Runner = (statement) => ({ execute: async (values) => await statement.execute(values) });

async function explainIn(connection: BetterSqlite.Database, run: Explained): Promise<PagePlan[]> {
  const plans: PagePlan[] = [];
  let name = "";
  const logger = {
    logQuery: (query: string, parameters: unknown[]) => {
      // See limitOf and textPlaceholder: SQLite prepares such a statement again at every run.
      assert.doesNotMatch(query, /limit \?|" = \?.* order by/);
      const steps = connection.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`).all(...parameters);
      plans.push({ name, plan: steps.map(({ detail }) => detail) });
    },
  };
  const queries = loadSqliteDriver().drizzle(connection, { casing: "snake_case", logger }) as unknown as Queries;
  await run(newSession(queries, { ...sqliteDialect, termTime: Date.now }, loggedRunner), (text) => {
    name = text;
  });
  return plans;
}

async function explainLists(session: Session, named: (text: string) => void): Promise<void> {
  for (const source of sources) {
    for (const order of orders) {
      const value = order.field === "name" || order.field === "uid" ? "b" : 7;
      const pages: Record<string, { after: Cursor | undefined; skip: number }> = {
        "first page": { after: undefined, skip: 0 },
        "page behind a row": { after: { value, uid: root }, skip: 0 },
        "place far ahead": { after: undefined, skip: 5000 },
      };
      for (const [page, where] of Object.entries(pages)) {
        const kind = source.type === "children" && source.uid === null ? "roots" : source.type;
        const name = `${page} of ${kind} by ${order.field}${order.descending ? " descending" : ""}`;
        named(name);
        await listRows(session, groups, { sources: [source], filters: {}, order, ...where, limit: 50 });
        // Tags always have a repo as parent.
        if (kind === "roots") continue;
        named(`${name} under a condition`);
        await listRows(session, tags, { sources: [source], filters: {}, condition, order, ...where, limit: 50 });
      }
    }
  }
  for (const isFollowed of [false, true]) {
    named(`changes of an organization, the ${isFollowed ? "earliest" : "latest"} first`);
    await readHistory(session, { organization: root, isFollowed, after: undefined, limit: 50 });
    named(`names in changes of an organization, the ${isFollowed ? "earliest" : "latest"} first`);
    await readHistory(session, { organization: root, isFollowed, after: undefined, limit: 50, withContent: true });
  }
}
