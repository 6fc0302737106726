// The settings of PostgreSQL that Gatehouse relies on.
import type { DatabaseLimits } from "../dialect.ts";

/**
 * Returns the settings of every transaction by name.
 *
 * No bitmap scans: PostgreSQL plans a statement without the bounds of its range, and estimates any range at 0.5 % of
 * the table. A bitmap scan and a sort then look cheaper than an index scan, which has a page after a few rows.
 *
 * Random pages cost hardly more than sequential ones: by default, a list of uids is looked up by scanning the table while
 * it is small. The prepared statement keeps this plan while the table grows, until the table is analyzed.
 */
function settingsOf({ lockTimeoutMs, statementTimeoutMs, idleInTransactionMs }: DatabaseLimits) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    enable_bitmapscan: "off",
    random_page_cost: 1.1,
  };
}

/**
 * Without keepalives PostgreSQL does not notice that a client died, and keeps its locks. With these, it notices after
 * 10 s + 3 × 5 s. Unix sockets have no keepalives.
 */
const keepalives = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };

/**
 * Returns the statements that set up a session. They are statements, because PgBouncer rejects connections with
 * parameters.
 */
export function sessionSettings(limits: DatabaseLimits): string {
  return statementsOf("SET", { ...settingsOf(limits), ...keepalives });
}

/** Returns the statements that set up a transaction whose session is shared with other programs. */
export function transactionSettings(limits: DatabaseLimits): string {
  return statementsOf("SET LOCAL", settingsOf(limits));
}

function statementsOf(command: string, settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${command} ${name} = ${value}`)
    .join("; ");
}
