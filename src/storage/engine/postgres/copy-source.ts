// Reads a PostgreSQL database in one snapshot.
import type pg from "pg";
import { type CopiedTable, quoted } from "../../schema/copied-tables.ts";
import { batchLimits, type CopiedRow, type CopySource, sizeOf } from "../copy.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { connectForCopy } from "./copy-connection.ts";

/** The types of the columns that are not text (pg_type.dat of PostgreSQL). */
const oids = { boolean: 16, bigint: 20 };

const types = {
  getTypeParser(oid: number) {
    if (oid === oids.bigint) return Number;
    return oid === oids.boolean ? (text: string) => (text === "t" ? 1 : 0) : (text: string) => text;
  },
} as unknown as pg.CustomTypesConfig;

/** Connects, and begins the snapshot. */
export async function openPostgresSource(url: string, limits: DatabaseLimits): Promise<CopySource> {
  const { client } = await connectForCopy(url, limits);
  const read = async (text: string, values: string[] = []) => {
    const { rows } = await client.query<CopiedRow[]>({ text, values, rowMode: "array", types } as pg.QueryArrayConfig);
    return rows as unknown as CopiedRow[];
  };
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  return {
    count: async ({ name }) => Number((await read(`SELECT count(*) FROM ${quoted([name])}`))[0]?.[0]),
    rows: (table) => batchesOf(read, table),
    async lastNumber({ name, sequence = "" }) {
      const last = "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, $2))";
      return Number((await read(last, [name, sequence]))[0]?.[0] ?? 0);
    },
    close: () => client.end(),
  };
}

async function* batchesOf(
  read: (text: string) => Promise<CopiedRow[]>,
  { name, columns, key }: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  await read(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${quoted(columns)} FROM ${quoted([name])} ORDER BY ${quoted(key)}`,
  );
  let count = 100;
  for (;;) {
    const batch = await read(`FETCH ${count} FROM copied`);
    if (batch.length > 0) yield batch;
    if (batch.length < count) break;
    count = nextCount(batch);
  }
  await read("CLOSE copied");
}

/** How many rows the next batch has, by the size of the last one. */
function nextCount(batch: readonly CopiedRow[]): number {
  let size = 0;
  for (const row of batch) size += sizeOf(row);
  const fitting = Math.floor((batch.length * batchLimits.characters) / Math.max(size, 1));
  return Math.max(1, Math.min(fitting, 4 * batch.length, batchLimits.rows));
}
