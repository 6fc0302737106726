// The constructs of PostgreSQL that Gatehouse uses beyond the SQL that CockroachDB and YugabyteDB are known to run.
// docs/operate/database.md explains each: the obstacle, and a replacement.

/** A construct outside of the common set. */
export interface SqlConstruct {
  /** As the page names it. */
  readonly name: string;
  readonly pattern: RegExp;
  /** The files of src/storage that use it. */
  readonly files: readonly string[];
}

const initial = "schema/migrations/postgres/0000_initial.sql";
const attempts = "schema/migrations/postgres/0001_delivery_attempts.sql";
const nodes = "schema/migrations/postgres/0002_nodes.sql";
const counts = "schema/migrations/postgres/0010_daily_counts.sql";
const trust = "schema/migrations/postgres/0014_identity_trust.sql";
const usage = "schema/migrations/postgres/0016_access_usage.sql";
const requests = "schema/migrations/postgres/0017_access_requests.sql";
const reviews = "schema/migrations/postgres/0020_access_reviews.sql";
const images = "schema/migrations/postgres/0018_images.sql";
const imageUses = "schema/migrations/postgres/0019_image_uses.sql";
const breakGlass = "schema/migrations/postgres/0021_break_glass.sql";
const outcomes = "schema/migrations/postgres/0022_call_outcomes.sql";
const seen = "schema/migrations/postgres/0013_seen_tokens.sql";
const founding = "schema/migrations/postgres/0006_founding_bindings.sql";
const settings = "schema/migrations/postgres/0007_subscription_settings.sql";
const names = "schema/migrations/postgres/0008_name_words.sql";
const scim = "schema/migrations/postgres/0003_scim.sql";

export const uncommonConstructs: readonly SqlConstruct[] = [
  {
    name: "pg_advisory_xact_lock",
    pattern: /\bpg_(?:try_)?advisory_\w+|\bhashtextextended\(/,
    files: [
      "engine/postgres/copy-target.ts",
      "engine/postgres/dialect.ts",
      "engine/postgres/migrate.ts",
      "engine/postgres/transaction.ts",
      "installation/call-outcomes.ts",
      "vulnerabilities/complete-documents.ts",
    ],
  },
  { name: "LOCK TABLE", pattern: /\bLOCK TABLE\b/, files: ["engine/postgres/transaction.ts"] },
  {
    name: "FOR NO KEY UPDATE, FOR KEY SHARE",
    pattern: /"(?:no key update|key share)"(?!;| \|)|\bFOR (?:NO KEY|KEY)\b/,
    files: ["engine/postgres/transaction.ts"],
  },
  {
    name: "json_to_recordset, json_array_elements_text, json_each_text",
    pattern: /\bjsonb?_(?:to_record|array_elements|each)\w*\(/,
    files: ["engine/json-rows.ts", "engine/postgres/dialect.ts"],
  },
  {
    name: "json columns",
    pattern: /" json\b|\bpg\.jsonb?\(/,
    files: ["schema/columns.postgres.ts", initial, scim, settings, trust, requests, images, reviews],
  },
  {
    name: 'collate "C"',
    pattern: /\bcollate "C"/i,
    files: [
      "schema/columns.postgres.ts",
      initial,
      attempts,
      nodes,
      scim,
      founding,
      settings,
      names,
      counts,
      seen,
      usage,
      requests,
      reviews,
      images,
      imageUses,
      breakGlass,
      outcomes,
    ],
  },
  { name: "DO, CREATE EXTENSION", pattern: /\bDO \$|\bCREATE EXTENSION\b/, files: [initial] },
  { name: "CREATE FUNCTION", pattern: /\bCREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE|TRIGGER)\b/, files: [initial] },
  { name: "USING gin", pattern: /\bUSING (?:gin|gist|brin|hash)\b/i, files: [initial] },
  {
    name: "pg_database_size",
    pattern: /\b(?:pg_database_size|current_database)\(/,
    files: ["engine/postgres/dialect.ts"],
  },
  {
    name: "GENERATED ALWAYS AS IDENTITY",
    pattern: /\bGENERATED (?:ALWAYS|BY DEFAULT) AS IDENTITY\b/,
    files: [initial, images],
  },
  {
    name: "OVERRIDING SYSTEM VALUE, nextval",
    pattern: /\boverriding system value\b|\bnextval\(|\bpg_get_serial_sequence\(/i,
    files: ["change-log/change-log.ts", "engine/postgres/copy-source.ts", "engine/postgres/copy-target.ts"],
  },
  {
    name: "setval, pg_sequence_last_value",
    pattern: /\bsetval\(|\bpg_sequence_last_value\(/,
    files: ["engine/postgres/copy-source.ts", "engine/postgres/copy-target.ts"],
  },
  {
    name: "pg_get_constraintdef, pg_get_indexdef",
    pattern: /\bpg_get_(?:constraint|index)def\(/,
    files: ["engine/postgres/copy-target.ts"],
  },
  { name: "enable_bitmapscan", pattern: /\benable_\w*scan\b/, files: ["engine/postgres/session-settings.ts", initial] },
  { name: "random_page_cost", pattern: /\brandom_page_cost\b/, files: ["engine/postgres/session-settings.ts"] },
  { name: "tcp_keepalives_idle", pattern: /\btcp_keepalives_\w+/, files: ["engine/postgres/session-settings.ts"] },
  {
    name: "clock_timestamp",
    pattern: /\bclock_timestamp\(|\bextract\(/,
    files: ["cache/access-epoch.ts"],
  },
  {
    name: "pg_is_in_recovery",
    pattern: /\bpg_is_in_recovery\(/,
    files: ["engine/postgres/replica.ts", "engine/postgres/writability.ts"],
  },
  {
    name: "pg_control_system, pg_current_wal_flush_lsn, pg_last_wal_replay_lsn",
    pattern: /\bpg_control_\w+\(|\bpg_\w+_lsn\(/,
    files: ["engine/postgres/replica.ts"],
  },
  {
    name: "current_schemas, has_table_privilege",
    pattern: /\bcurrent_schemas\(|\bhas_\w+_privilege\(/,
    files: ["engine/postgres/installation-schema.ts", "engine/postgres/rights.ts", initial],
  },
  { name: "set_config", pattern: /\bset_config\(/, files: ["engine/postgres/migrate.ts"] },
  {
    name: "ISOLATION LEVEL REPEATABLE READ",
    pattern: /\bISOLATION LEVEL\b/,
    files: ["engine/postgres/copy-source.ts", "engine/postgres/pool.ts"],
  },
];

/** The functions that all of these databases have. */
export const commonFunctions: ReadonlySet<string> = new Set([
  "array",
  "any",
  "cast",
  "coalesce",
  "concat_ws",
  "count",
  "current_setting",
  "min",
  "format",
  "lag",
  "length",
  "lower",
  "max",
  "nullif",
  "row_number",
  "rtrim",
  "string_agg",
  "strpos",
  "substr",
  "sum",
  "unnest",
]);

/** Functions that the initial migration creates. */
export const ownFunctions: ReadonlySet<string> = new Set(["find_advisory_texts", "count_advisory_texts"]);
