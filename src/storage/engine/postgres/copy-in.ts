// COPY … FROM STDIN: the fastest way to insert rows. node-postgres has its messages, but no query that sends them.
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import type pg from "pg";
import type { CopiedRow, CopiedRows } from "../copy.ts";

/** The messages of a connection that its types lack (https://www.postgresql.org/docs/current/protocol-flow.html, COPY). */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
};

/** Sends rows to a statement `COPY … FROM STDIN`. The connection must not be pipelined. */
export async function copyIn(client: pg.Client, text: string, rows: CopiedRows): Promise<void> {
  const query = new CopyQuery(text);
  client.query(query);
  const connection = await query.started;
  try {
    for await (const batch of rows) {
      connection.sendCopyFromChunk(Buffer.from(textOf(batch)));
      if (connection.stream.writableNeedDrain) await Promise.race([once(connection.stream, "drain"), query.finished]);
      // Reports an error of the server meanwhile.
      await Promise.race([setImmediate(), query.finished]);
    }
  } catch (error) {
    connection.sendCopyFail("the rows could not be read");
    await query.finished.catch(() => {});
    throw error;
  }
  connection.endCopyFrom();
  await query.finished;
}

/** A COPY statement as a query of node-postgres, which calls its handlers while the statement runs. */
class CopyQuery implements pg.Submittable {
  readonly #text: string;
  readonly #started = Promise.withResolvers<CopyConnection>();
  readonly #finished = Promise.withResolvers<void>();

  constructor(text: string) {
    this.#text = text;
    for (const { promise } of [this.#started, this.#finished]) promise.catch(() => {});
  }

  get started(): Promise<CopyConnection> {
    return this.#started.promise;
  }

  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#started.resolve(connection);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#finished.resolve();
  }

  handleError(error: Error): void {
    this.#started.reject(error);
    this.#finished.reject(error);
  }
}

/** Returns the rows in the text format of COPY (https://www.postgresql.org/docs/current/sql-copy.html). */
function textOf(rows: readonly CopiedRow[]): string {
  let text = "";
  for (const row of rows) {
    for (let i = 0; i < row.length; i++) text += (i === 0 ? "" : "\t") + fieldOf(row[i]!);
    text += "\n";
  }
  return text;
}

const special = /[\\\n\r\t]/g;
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function fieldOf(value: string | number | null): string {
  if (value === null) return "\\N";
  if (typeof value === "number") return String(value);
  return value.replace(special, (character) => escapes[character]!);
}
