// The query plans of PostgreSQL for a search of advisories. With 300,000 of them it takes up to 100 ms of CPU, nearly all of it for the total.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { defaultDatabaseLimits } from "../../../../src/storage/engine/dialect.ts";
import { postgresDialect } from "../../../../src/storage/engine/postgres/dialect.ts";
import { sessionSettings } from "../../../../src/storage/engine/postgres/session-settings.ts";
import { newSession, type Queries, type Runner } from "../../../../src/storage/engine/session.ts";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { root, searchAdvisories } from "../../plans.ts";
import { openPostgresStore, type Store } from "../../stores.ts";

after(stopPostgres);

/** Of these, one in four is critical and affected. */
const advisories = 20_000;

async function fill({ tamper }: Store): Promise<void> {
  const text = "legacy_advisory_id author artifact_name artifact_type artifact_architecture origin component_name";
  const empty = [...text.split(" "), "component_type", "component_location"];
  await tamper(`INSERT INTO advisories (uid, parent, name, aliases, severities, latest_event_type, create_time, update_time,
      score, publish_time, ${empty})
    SELECT '${root}/' || n, '${root}', n, '[]', '[]', 1 + n % 2, n, n, 80 + n / 2 % 20, n * 7919 % 1000000, ${empty.map(() => "''")}
    FROM generate_series(1000000000000000, ${1e15 + advisories - 1}) n`);
  await tamper("ANALYZE advisories");
}

/** Returns the plans of the statements of a search, which run on a connection with the settings of the program. */
async function explainOn(client: pg.Client, mode: string): Promise<ReadonlyMap<string, string>> {
  const statements: [query: string, values: unknown[]][] = [];
  const logger = { logQuery: (query: string, values: unknown[]) => void statements.push([query, values]) };
  const queries = drizzle(client, { casing: "snake_case", logger }) as unknown as Queries;
  const runner: Runner = (statement) => ({ execute: async (values) => await statement.execute(values) });
  const names: string[] = [];
  await searchAdvisories(newSession(queries, { ...postgresDialect, termTime: Date.now }, runner), (name) =>
    names.push(name),
  );
  await client.query(`SET plan_cache_mode = ${mode}`);
  const plans = new Map<string, string>();
  for (const [i, [query, values]] of statements.entries()) {
    await client.query(`PREPARE ${mode}_${i} AS ${query}`);
    const literals = values.map((value) => (typeof value === "number" ? value : pg.escapeLiteral(String(value))));
    const { rows } = await client.query(`EXPLAIN (COSTS OFF) EXECUTE ${mode}_${i}(${literals.join(", ")})`);
    plans.set(names[i]!, rows.map((row) => row["QUERY PLAN"]).join("\n"));
  }
  return plans;
}

if (databases.includes("postgres"))
  describe("PostgreSQL: the plan of a search of critical and affected advisories, newest first", () => {
    it("reads one index in order and the rows of the page, and never the table", async () => {
      await using store = await openPostgresStore();
      await fill(store);
      const client = new pg.Client({ connectionString: store.url });
      await client.connect();
      try {
        await client.query(sessionSettings(defaultDatabaseLimits));
        const plans = await explainOn(client, "force_custom_plan");
        assert.deepEqual([...plans.keys()], ["total", "first page", "page behind a row"]);
        for (const [name, plan] of plans) {
          if (name === "total") assert.match(plan, /^Aggregate\n *-> *Index Only Scan using advisories_/);
          else assert.match(plan, /Limit\n *-> *Index Only Scan Backward using advisories_published /, name);
          assert.doesNotMatch(plan, /Seq Scan/, name);
        }
        // A plan for any values may read the matching rows by another index, and sort them.
        for (const [name, plan] of await explainOn(client, "force_generic_plan"))
          assert.doesNotMatch(plan, /Seq Scan/, `${name}: ${plan}`);
      } finally {
        await client.end();
      }
    });
  });
