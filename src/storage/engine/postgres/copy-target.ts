// Fills a PostgreSQL database with the rows of another one, in one transaction.
import type pg from "pg";
import { type CopiedTable, quoted } from "../../schema/copied-tables.ts";
import type { CopyProgress, CopyTarget, Fill } from "../copy.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { StorageUnavailable } from "../errors.ts";
import { connectForCopy } from "./copy-connection.ts";
import { copyIn } from "./copy-in.ts";

/** The number of an advisory lock; `InstallationSchema.lockKey` makes its key. */
const copyLock = 7_301_003;

/** The memory that sorts an index. */
const sortMemory = "256MB";

/**
 * Replaces the rows of all tables. Indexes and references are dropped before and created after the rows, which is faster. Until
 * the end, other sessions see the tables as they were.
 */
export async function fillPostgres(
  url: string,
  limits: DatabaseLimits,
  tables: readonly CopiedTable[],
  progress: CopyProgress,
  fill: Fill,
): Promise<void> {
  const { client, schema } = await connectForCopy(url, limits);
  try {
    await client.query("BEGIN");
    const locked = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${schema.lockKey(copyLock)}) AS locked`,
    );
    if (!locked.rows[0]?.locked) throw new StorageUnavailable("another command is filling it");
    await client.query(`SET LOCAL maintenance_work_mem = '${sortMemory}'`);
    // Emptying them here also allows FREEZE, without which the first reads and a vacuum write every page again.
    await client.query(`TRUNCATE ${quoted(tables.map(({ name }) => name))}`);
    const statements = await dropIndexes(client, tables);
    await fill(targetOf(client));
    await runAll(client, [...statements, `ANALYZE ${quoted(tables.map(({ name }) => name))}`], progress);
    await client.query("COMMIT");
  } finally {
    // Without COMMIT, PostgreSQL rolls back.
    await client.end().catch(() => {});
  }
}

async function runAll(client: pg.Client, statements: readonly string[], progress: CopyProgress): Promise<void> {
  await progress.begin("building indexes", statements.length, "counts");
  for (const statement of statements) {
    await client.query(statement);
    progress.advance(1);
  }
}

function targetOf(client: pg.Client): CopyTarget {
  return {
    insert: ({ name, columns }, rows) =>
      copyIn(client, `COPY ${quoted([name])} (${quoted(columns)}) FROM STDIN WITH (FREEZE)`, rows),
    async setLastNumber({ name, sequence }, last) {
      const set = "SELECT setval(pg_get_serial_sequence($1, $2), $3, $4)";
      await client.query(set, [name, sequence, Math.max(last, 1), last > 0]);
    },
  };
}

/** Drops references, and indexes other than those of primary keys. Returns the statements that create them again. */
async function dropIndexes(client: pg.Client, tables: readonly CopiedTable[]): Promise<string[]> {
  const names = [tables.map(({ name }) => name)];
  const references = await client.query<{ drop: string; create: string }>(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS "drop",
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS "create"
     FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY ($1::text[]::regclass[])`,
    names,
  );
  const indexes = await client.query<{ drop: string; create: string }>(
    `SELECT format('DROP INDEX %s', indexrelid::regclass) AS "drop", pg_get_indexdef(indexrelid) AS "create"
     FROM pg_index WHERE indrelid = ANY ($1::text[]::regclass[])
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))`,
    names,
  );
  // References first: they may need an index.
  for (const { drop } of [...references.rows, ...indexes.rows]) await client.query(drop);
  return [...indexes.rows, ...references.rows].map(({ create }) => create);
}
