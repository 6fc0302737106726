// The database that a copy fills. Until it is complete and checked, a setting marks it, and a server does not start on it.
import type { Database } from "../database.ts";
import { unfinishedSetting } from "../engine/copy.ts";
import { limitOf } from "../engine/placeholders.ts";
import type { Session, WriteContext } from "../engine/session.ts";
import { readSetting, writeSetting } from "../engine/settings.ts";
import { eq, getTableName, sql } from "../schema/drizzle.ts";

/** The database to fill has rows. The message completes a sentence that begins with the database. */
export class TargetNotEmpty extends Error {
  override readonly name = "TargetNotEmpty";
}

/** Marks an empty database as one that the command fills. Throws TargetNotEmpty, unless an interrupted copy left the rows. */
export async function claimTarget(database: Database, command: string, time: number): Promise<void> {
  const unfinished = await readSetting(database.session, unfinishedSetting);
  const filled = unfinished === undefined ? await filledTables(database.session) : [];
  if (filled.length > 0) throw new TargetNotEmpty(`is not empty: it has rows in ${filled.join(", ")}`);
  await database.write(contextOf(command, time), (tx) => writeSetting(tx, unfinishedSetting, command));
}

/** Removes the mark of a database that is complete. */
export async function releaseTarget(database: Database, command: string, time: number): Promise<void> {
  await database.write(contextOf(command, time), async (tx) => {
    const statement = tx.prepared("settings.delete_unfinished", (db, { settings }) =>
      db.delete(settings).where(eq(settings.name, sql.placeholder("name"))),
    );
    await statement.execute({ name: unfinishedSetting });
  });
}

function contextOf(command: string, time: number): WriteContext {
  return { actor: "", method: command, requestId: "", time };
}

/** Returns the names of tables with rows. Migrations insert settings. */
async function filledTables(session: Session): Promise<string[]> {
  const filled: string[] = [];
  for (const table of Object.values(session.tables)) {
    const name = getTableName(table);
    const statement = session.prepared(`copy.first_row.${name}`, (db) =>
      db.select({ one: sql<number>`1` }).from(table).limit(limitOf(1)),
    );
    if (name !== "settings" && (await statement.execute()).length > 0) filled.push(name);
  }
  return filled;
}
