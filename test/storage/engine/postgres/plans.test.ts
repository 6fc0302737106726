// The query plans of PostgreSQL for a search of advisories. With 300,000 of them it takes up to 100 ms of CPU, nearly all of it for the total.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { databases } from "../../../harness/databases.ts";
import { stopPostgres } from "../../../harness/postgres.ts";
import { explainOnPostgres, root, searchAdvisories } from "../../plans.ts";
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

if (databases.includes("postgres"))
  describe("PostgreSQL: the plan of a search of critical and affected advisories, newest first", () => {
    it("reads one index in order and the rows of the page, and never the table", async () => {
      await using store = await openPostgresStore();
      await fill(store);
      const plans = await explainOnPostgres(store.url, "force_custom_plan", searchAdvisories);
      assert.deepEqual(
        plans.map(({ name }) => name),
        ["total", "first page", "page behind a row"],
      );
      for (const { name, plan } of plans) {
        const text = plan.join("\n");
        if (name === "total") assert.match(text, /^Aggregate\n *-> *Index Only Scan using advisories_/);
        else assert.match(text, /Limit\n *-> *Index Only Scan Backward using advisories_published /, name);
        assert.doesNotMatch(text, /Seq Scan/, name);
      }
      // A plan for any values may read the matching rows by another index, and sort them.
      for (const { name, plan } of await explainOnPostgres(store.url, "force_generic_plan", searchAdvisories))
        assert.doesNotMatch(plan.join("\n"), /Seq Scan/, name);
    });
  });
