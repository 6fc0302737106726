// Tells whether anything in the database has changed, by the last entry of the change log. All reads of an event-loop
// tick share one look at it (docs/design/decisions/0056).
import { newGatherer } from "../../../base/gather.ts";
import { desc } from "../../schema/drizzle.ts";
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
  /** Call it for every new connection: the server may have been replaced by one that lacks the latest changes. */
  forget(): void;
}

interface LastEntry {
  readonly sequence: number;
  /** Together with the sequence, identifies the entry: after a failover, other changes may have the same number. */
  readonly requestId: string;
}

/** Creates the data version. `onNewHistory` is called when entries of the change log may have vanished. */
export function newDataVersion(session: Session, onNewHistory: () => void): DataVersion {
  const statement = session.prepared("changes.last_entry", (db, { changes }) =>
    db
      .select({ sequence: changes.sequence, requestId: changes.requestId })
      .from(changes)
      .orderBy(desc(changes.sequence))
      .limit(limitOf(1)),
  );
  let version = 0;
  let known: LastEntry | undefined;

  async function look(): Promise<number> {
    const [last = { sequence: 0, requestId: "" }] = await statement.execute();
    if (last.sequence === known?.sequence && last.requestId === known.requestId) return version;
    if (known && last.sequence <= known.sequence) onNewHistory();
    known = last;
    return ++version;
  }
  const gathered = newGatherer<never, number>(look, { maxKeys: 1, patienceMs });

  return {
    current: () => gathered([]),
    forget() {
      known = undefined;
      onNewHistory();
    },
  };
}
