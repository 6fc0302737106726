// A number that changes with every change of what anybody may do. Nodes compare it instead of reading grants anew.
import { sql } from "./drizzle.ts";
import type { Session } from "./session.ts";
import { settingStatement } from "./settings.ts";

const settingName = "access_epoch";

/** How old the number may be on a node that did not make the change: a revocation is seen everywhere within a second. */
const maxAgeMs = 250;

/** The number as one node knows it. */
export interface AccessEpoch {
  /** The number now; a promise only when it has to be read. */
  current(): number | Promise<number>;
  /** Makes the next call of `current` read. */
  invalidate(): void;
}

/** Makes the reader of one node. */
export function newAccessEpoch(session: Session): AccessEpoch {
  const statement = settingStatement(session);
  let value = 0;
  let goodUntil = Number.NEGATIVE_INFINITY;
  let invalidations = 0;
  let reading: Promise<number> | undefined;

  async function read(): Promise<number> {
    const startedAt = performance.now();
    const startedIn = invalidations;
    const rows = await statement.execute({ name: settingName });
    const found = Number(rows[0]?.value ?? 0);
    // What was read before the latest change says nothing about it.
    if (startedIn === invalidations) {
      value = found;
      goodUntil = startedAt + maxAgeMs;
      reading = undefined;
    }
    return found;
  }

  return {
    current() {
      if (performance.now() < goodUntil) return value;
      reading ??= read().catch((error) => {
        reading = undefined;
        throw error;
      });
      return reading;
    },
    invalidate() {
      invalidations++;
      goodUntil = Number.NEGATIVE_INFINITY;
      reading = undefined;
    },
  };
}

/** Changes the number inside the transaction that changes what somebody may do. */
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
