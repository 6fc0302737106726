// What a query for the counts of a group reads, among those of many groups.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { drizzle as mockSqlite } from "drizzle-orm/better-sqlite3";
import { drizzle as mockPostgres } from "drizzle-orm/node-postgres";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { postgresDialect } from "../../../src/storage/engine/postgres/dialect.ts";
import { sessionSettings } from "../../../src/storage/engine/postgres/session-settings.ts";
import type { Queries, Session } from "../../../src/storage/engine/session.ts";
import { sqliteDialect } from "../../../src/storage/engine/sqlite/dialect.ts";
import { findDailyCounts } from "../../../src/storage/statistics/daily-counts.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { openPostgresStore, openSqliteStore, type Store } from "../stores.ts";

after(stopPostgres);

const dayMs = 86_400_000;
const metrics = Array.from({ length: 12 }, (_, i) => `metric-${String(i).padStart(2, "0")}`);
const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 399 * dayMs];
const root = "a".repeat(40);

const dialects = {
  sqlite: { dialect: sqliteDialect, open: openSqliteStore, db: mockSqlite.mock({ casing: "snake_case" }) },
  postgres: { dialect: postgresDialect, open: openPostgresStore, db: mockPostgres.mock({ casing: "snake_case" }) },
};

/** Returns the statement of the query. */
async function statementOf(database: keyof typeof dialects): Promise<string> {
  const { dialect, db } = dialects[database];
  let text = "";
  const prepared: Session["prepared"] = (_key, build) => {
    const query = build(db as unknown as Queries, dialect.tables);
    text = (query as unknown as { toSQL(): { sql: string } }).toSQL().sql;
    return { execute: () => [] as never };
  };
  await findDailyCounts({ ...dialect, prepared } as Session, { groupUid: root, metrics, from, to });
  return text;
}

/** Fills every day of the query for a group, and one day of each metric for 10,000 groups below it. */
async function fill({ tamper }: Store): Promise<void> {
  const numbers = (below: number) =>
    `WITH RECURSIVE n(n) AS (SELECT cast(0 AS bigint) UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ${below})`;
  for (const [i, metric] of metrics.entries()) {
    await tamper(
      `INSERT INTO daily_counts ${numbers(400)} SELECT '${root}', '${metric}', ${from} + n * ${dayMs}, n + ${i} FROM n`,
    );
    await tamper(
      `INSERT INTO daily_counts ${numbers(10_000)} SELECT '${root}/' || (1000000000000000 + n), '${metric}', ${from}, 1 FROM n`,
    );
  }
  await tamper("ANALYZE daily_counts");
  // The reads of one tick share a snapshot.
  await nextTick();
}

for (const database of databases) {
  describe(`the counts of a group on ${database}`, () => {
    it("counts of a group are one row for each metric, read as one range of the primary key, with 10,000 groups below it", async () => {
      await using store = await dialects[database].open();
      await fill(store);
      const statement = await statementOf(database);
      if (database === "sqlite") {
        // The parameters do not matter for the plan.
        const plan = (await store.tamper(`EXPLAIN QUERY PLAN ${statement.replaceAll("?", "NULL")}`)).map(
          ({ detail }) => detail,
        );
        assert.equal(plan[0], "SEARCH daily_counts USING PRIMARY KEY (group_uid=? AND metric=? AND day>? AND day<?)");
        assert.ok(!plan.some((step) => /TEMP B-TREE/.test(String(step))), plan.join("; "));
      } else {
        await store.tamper(sessionSettings(defaultDatabaseLimits));
        await store.tamper("SET plan_cache_mode = force_generic_plan");
        await store.tamper(`PREPARE counts AS ${statement}`);
        const values = [from, `'${root}'`, `'${JSON.stringify(metrics)}'`, from, to];
        const plan = await store.tamper(`EXPLAIN (ANALYZE, COSTS OFF) EXECUTE counts(${values.join(", ")})`);
        const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
        assert.match(text, /^GroupAggregate \(actual .* rows=12/);
        assert.match(text, /using daily_counts_\w+_pk on daily_counts \(actual .* rows=4800/);
        assert.doesNotMatch(text, /Filter|Seq Scan|Sort/);
      }
    });
  });
}
