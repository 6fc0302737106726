// Stores since when something is recorded without a gap.
import { dayMs } from "../../base/clock.ts";
import { eq, sql } from "../schema/drizzle.ts";
import type { Session, Transaction } from "./session.ts";
import { readSetting, writeSetting } from "./settings.ts";

/** The longest time without a recording server after which the records before it still count as complete. */
const longestGapMs = dayMs;

/** Since when records are kept, and until when they are stored, in milliseconds since the epoch. */
interface Recorded {
  readonly since: number;
  readonly until: number;
}

/** A recording, which all servers of an installation share. */
export interface Recording {
  /**
   * Stores that all records up to the time of the transaction are stored. Recording starts again after a day in which no server noted
   * this: records may be missing, for instance because a backup was restored.
   */
  note(tx: Transaction): Promise<void>;
  /** Stores that records before the time of the transaction are missing. */
  restart(tx: Transaction): Promise<void>;
  /** Stores that nothing is recorded. */
  end(tx: Transaction): Promise<void>;
  /** Returns since when records are complete; undefined if nothing is recorded. */
  since(session: Session): Promise<number | undefined>;
}

/** Returns the recording that is stored in a setting. */
export function recordingIn(setting: string): Recording {
  const read = async (session: Session): Promise<Recorded | undefined> => {
    const text = await readSetting(session, setting);
    return text === undefined ? undefined : (JSON.parse(text) as Recorded);
  };
  const write = (tx: Transaction, recorded: Recorded) => writeSetting(tx, setting, JSON.stringify(recorded));
  return {
    async note(tx) {
      const { time } = tx.context;
      const before = await read(tx);
      const isContinued = before !== undefined && time - before.until <= longestGapMs;
      await write(
        tx,
        isContinued ? { since: before.since, until: Math.max(before.until, time) } : { since: time, until: time },
      );
    },
    restart: (tx) => write(tx, { since: tx.context.time, until: tx.context.time }),
    async end(tx) {
      const statement = tx.prepared("settings.delete", (db, { settings }) =>
        db.delete(settings).where(eq(settings.name, sql.placeholder("name"))),
      );
      await statement.execute({ name: setting });
    },
    since: async (session) => (await read(session))?.since,
  };
}
