// The access epoch: a number that changes with every change of permissions. Nodes compare it instead of reading grants
// again.

import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import { newReader, type Reader, type ReaderLimits } from "../../base/shared-reader.ts";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { settingStatement } from "../engine/settings.ts";
import type { TermClock } from "../engine/term-clock.ts";
import { eq, sql } from "../schema/drizzle.ts";

const settingName = "access_epoch";

/** The maximum age of the number: a revocation takes effect on every node within a second. */
const limits: ReaderLimits = { maxAgeMs: 250, patienceMs: 250 };

/** The access epoch as one node knows it. */
export type AccessEpoch = Reader<number>;

/** Creates the reader of one node. With each read of a remote database, it sets the clock of terms. */
export function newAccessEpoch(session: Session, clock: TermClock): AccessEpoch {
  if (session.isRemote) return newReader(() => readWithTime(session, clock), limits);
  const statement = settingStatement(session);
  const read = (): MaybePromise<number> =>
    mapMaybe(statement.execute({ name: settingName }), ([row]) => Number(row?.value ?? 0));
  return newReader(read, limits);
}

/** Reads the epoch and the time of the database, which is not that of a transaction. */
async function readWithTime(session: Session, clock: TermClock): Promise<number> {
  const statement = session.prepared("settings.get_with_time", (db, { settings }) =>
    db
      .select({
        value: settings.value,
        time: sql`extract(epoch from clock_timestamp()) * 1000`.mapWith(Number).as("time"),
      })
      .from(sql`(select 1) as one`)
      .leftJoin(settings, eq(settings.name, textPlaceholder("name"))),
  );
  const startedAt = performance.now();
  const [row] = await statement.execute({ name: settingName });
  clock.observe(row!.time, startedAt);
  return Number(row!.value ?? 0);
}

/** Advances the access epoch, in the transaction that changes permissions. */
export async function advanceAccessEpoch(tx: Session): Promise<void> {
  const statement = tx.prepared("settings.advance", (db, { settings }) =>
    db
      .insert(settings)
      .values({ name: sql.placeholder("name"), value: "1" })
      .onConflictDoUpdate({
        target: settings.name,
        set: { value: sql`cast(cast(${settings.value} as bigint) + 1 as text)` },
      }),
  );
  await statement.execute({ name: settingName });
}
