// The access epoch: a number that changes with every change of permissions. Nodes compare it instead of reading grants
// again.

import { type MaybePromise, mapMaybe } from "../../base/maybe-promise.ts";
import { newReader, type Reader, type ReaderLimits } from "../../base/shared-reader.ts";
import type { Session } from "../engine/session.ts";
import { settingStatement } from "../engine/settings.ts";
import { sql } from "../schema/drizzle.ts";

const settingName = "access_epoch";

/** The maximum age of the number: a revocation takes effect on every node within a second. */
const limits: ReaderLimits = { maxAgeMs: 250, patienceMs: 250 };

/** The access epoch as one node knows it. */
export type AccessEpoch = Reader<number>;

/** Creates the reader of one node. */
export function newAccessEpoch(session: Session): AccessEpoch {
  const statement = settingStatement(session);
  const read = (): MaybePromise<number> =>
    mapMaybe(statement.execute({ name: settingName }), ([row]) => Number(row?.value ?? 0));
  return newReader(read, limits);
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
