// Tells whether anything in the database has changed, by the last entry of the change log. All reads of an event-loop
// tick share one look at it (docs/decisions/0056).
import { newGatherer } from "../../../base/gather.ts";
import { desc, eq, sql } from "../../schema/drizzle.ts";
import { limitOf } from "../placeholders.ts";
import type { Session } from "../session.ts";

/** How long a look waits for the one before it, in milliseconds: a connection may have stopped responding. */
const patienceMs = 500;

/** The data version of one database. */
export interface DataVersion {
  /**
   * Returns a number that is the same as at an earlier call if nothing was logged in between. It comes from a look that
   * was sent after the call, so it covers every write that was acknowledged before, on any node.
   */
  current(): Promise<number>;
  /** Returns the last entry of the change log as of the same look. */
  lastEntry(): Promise<LogEntry>;
  /** Returns whether the change log has an entry. */
  hasEntry(entry: LogEntry): Promise<boolean>;
  /** Call it for every new connection: the server may have been replaced by one that lacks the latest changes. */
  forget(): void;
}

/** Identifies an entry of the change log: after a failover, another entry may have the same sequence number. */
export interface LogEntry {
  readonly sequence: number;
  readonly requestId: string;
  /** Milliseconds since the epoch. The server itself writes without a request id. */
  readonly time: number;
}

/** The end of an empty change log. */
export const noEntry: LogEntry = { sequence: 0, requestId: "", time: 0 };

/** Returns whether both are the same entry. */
export function isSameEntry(a: LogEntry, b: LogEntry): boolean {
  return a.sequence === b.sequence && a.requestId === b.requestId && a.time === b.time;
}

interface Look {
  readonly version: number;
  readonly last: LogEntry;
}

/** Creates the data version. `onNewHistory` is called when entries of the change log may have vanished. */
export function newDataVersion(session: Session, onNewHistory: () => void): DataVersion {
  const statement = session.prepared("changes.last_entry", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, requestId: changes.requestId, time: changes.time })
      .from(changes)
      .orderBy(desc(changes.sequence))
      .limit(limitOf(1)),
  );
  const entryAt = session.prepared("changes.entry_at", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, requestId: changes.requestId, time: changes.time })
      .from(changes)
      .where(eq(changes.sequence, sql.placeholder("sequence"))),
  );
  let version = 0;
  let known: LogEntry | undefined;

  async function look(): Promise<Look> {
    const [last = noEntry] = await statement.execute();
    if (known && isSameEntry(last, known)) return { version, last };
    if (known && last.sequence <= known.sequence) onNewHistory();
    known = last;
    return { version: ++version, last };
  }
  const gathered = newGatherer<never, Look>(look, { maxKeys: 1, patienceMs });

  return {
    current: async () => (await gathered([])).version,
    lastEntry: async () => (await gathered([])).last,
    async hasEntry(entry) {
      const [found] = await entryAt.execute({ sequence: entry.sequence });
      return found !== undefined && isSameEntry(found, entry);
    },
    forget() {
      known = undefined;
      onNewHistory();
    },
  };
}
