// The metrics of the database: statements, commits, connections, size.
import { boundedReading } from "../../base/bounded-reading.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Database } from "../../storage/database.ts";
import { readDatabaseFacts } from "../../storage/installation/database-facts.ts";
import { limits } from "../limits.ts";

/** Registers the metrics of the database. */
export function measureDatabase(metrics: Metrics, { session, measurements }: Database): void {
  const { statements, transactions, pool } = measurements;
  metrics.durations(
    "gatehouse_database_statement_duration_seconds",
    "Duration of statements, from the request to the result.",
    "kind",
    () => ({ ...statements }),
  );
  metrics.durations(
    "gatehouse_database_transaction_duration_seconds",
    "Duration of transactions that write, from the request until the commit is durable or everything is undone.",
    "outcome",
    () => ({
      committed: transactions.committed,
      rolled_back: transactions.rolledBack,
      failed: transactions.failed,
    }),
  );
  measurePool(metrics, pool);
  const readSize = boundedReading(async () => (await readDatabaseFacts(session)).sizeBytes, limits.expensiveMetrics);
  metrics.gauge({ name: "gatehouse_database_size_bytes", help: "Size of the database.", combined: "max" }, readSize);
}

function measurePool(metrics: Metrics, pool: Database["measurements"]["pool"]): void {
  metrics.gauges(
    { name: "gatehouse_database_connections", help: "Open connections of the pool by state.", combined: "sum" },
    "state",
    () => {
      const use = pool?.();
      return use ? { idle: use.idle, used: use.used } : {};
    },
  );
  metrics.gauge(
    { name: "gatehouse_database_connections_max", help: "Connections that the pool may open.", combined: "sum" },
    () => pool?.().max,
  );
  metrics.gauge(
    {
      name: "gatehouse_database_connections_pending",
      help: "Transactions that wait for a connection of the pool.",
      combined: "sum",
    },
    () => pool?.().pending,
  );
}
