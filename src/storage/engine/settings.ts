// Settings of the installation, stored by name.

import { and, eq, sql } from "../schema/drizzle.ts";
import type { Prepared, Session, Transaction } from "./session.ts";

/** Returns the value of a setting, or undefined if it was never set. */
export async function readSetting(session: Session, name: string): Promise<string | undefined> {
  return (await settingStatement(session).execute({ name }))[0]?.value;
}

/** Returns the statement that reads a setting by its `name`, for frequent readers. */
export function settingStatement(session: Session): Prepared<{ readonly value: string }[]> {
  return session.prepared("settings.get", (db, { settings }) =>
    db
      .select({ value: settings.value })
      .from(settings)
      .where(eq(settings.name, sql.placeholder("name"))),
  );
}

/** Returns a setting, storing `initial` first if it is unset. Concurrent callers get the same value. */
export async function getOrSetSetting(tx: Transaction, name: string, initial: string): Promise<string> {
  const statement = tx.prepared("settings.settle", (db, { settings }) =>
    db
      .insert(settings)
      .values({ name: sql.placeholder("name"), value: sql.placeholder("value") })
      .onConflictDoNothing(),
  );
  await statement.execute({ name, value: initial });
  return (await readSetting(tx, name)) ?? initial;
}

/** Overwrites a setting. */
export async function writeSetting(tx: Transaction, name: string, value: string): Promise<void> {
  const statement = tx.prepared("settings.set", (db, { settings }) =>
    db
      .insert(settings)
      .values({ name: sql.placeholder("name"), value: sql.placeholder("value") })
      .onConflictDoUpdate({ target: settings.name, set: { value: sql`excluded.value` } }),
  );
  await statement.execute({ name, value });
}

/** Changes a setting if it still has the value `from`. Returns whether it had. */
export async function compareAndSetSetting(tx: Transaction, name: string, from: string, to: string): Promise<boolean> {
  const statement = tx.prepared("settings.change", (db, { settings }) =>
    db
      .update(settings)
      .set({ value: sql`${sql.placeholder("to")}` })
      .where(and(eq(settings.name, sql.placeholder("name")), eq(settings.value, sql.placeholder("from"))))
      .returning({ name: settings.name }),
  );
  return (await statement.execute({ name, from, to })).length > 0;
}

/** Sets a setting to a number, unless it is as high already. */
export async function raiseSettingTo(tx: Transaction, name: string, to: number): Promise<void> {
  const statement = tx.prepared("settings.raise", (db, { settings }) => {
    const isHigher = sql`cast(excluded.value as bigint) > cast(${settings.value} as bigint)`;
    return db
      .insert(settings)
      .values({ name: sql.placeholder("name"), value: sql.placeholder("value") })
      .onConflictDoUpdate({ target: settings.name, set: { value: sql`excluded.value` }, setWhere: isHigher });
  });
  await statement.execute({ name, value: String(to) });
}
