// A session on one connection that many requests use at once. The statements of an event-loop tick are sent in one write,
// and none waits for the response of another. A connection that does not respond is left to its statements.
import type pg from "pg";
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import type { Session, SessionDialect, TermTime } from "../session.ts";
import { isLostConnection, isStaleStatement } from "./errors.ts";
import { maxSharedConnections, type PostgresPool } from "./pool.ts";

/** A session whose connection is replaced when it breaks or leads to a server that must not be used. */
export interface SharedSession {
  readonly session: Session;
  /** Opens the connection. Rejects with StorageUnavailable. */
  open(): Promise<void>;
  /** Closes the connection. */
  release(): void;
}

/** How long a connection may take to respond before new statements use another one, in milliseconds. */
const patienceMs = 500;

/** A connection, and whether it responds. */
interface SharedConnection {
  readonly client: pg.PoolClient;
  /** How many statements have no response yet. */
  waiting: number;
  /** When it last responded or became busy, in milliseconds of `performance.now()`. */
  activeAt: number;
}

type Statement<T> = (client: pg.PoolClient) => MaybePromise<T>;

/** Creates the session. `sessionOf` returns the session of a connection; `onOpened` is called for each new connection. */
export function newSharedSession(
  connections: PostgresPool["shared"],
  dialect: SessionDialect & TermTime,
  sessionOf: (client: pg.PoolClient) => Session,
  onOpened: () => void,
): SharedSession {
  const shared = newSharedConnections(connections, onOpened);
  return {
    session: {
      ...dialect,
      seesLatest: true,
      prepared: (key, build) => ({
        execute: (values) => shared.run((client) => sessionOf(client).prepared(key, build).execute(values)),
      }),
    },
    async open() {
      await shared.run(async () => {});
    },
    release: shared.release,
  };
}

/** Creates the connections of a session. */
function newSharedConnections(connections: PostgresPool["shared"], onOpened: () => void) {
  /** The last one is for new statements. Those before it wait for responses. */
  const open = new Set<SharedConnection>();
  let opening: Promise<SharedConnection> | undefined;
  let current: SharedConnection | undefined;

  async function connect(): Promise<SharedConnection> {
    const client = await connections.connect();
    const connection = { client, waiting: 0, activeAt: performance.now() };
    client.once("end", () => drop(connection));
    open.add(connection);
    current = connection;
    onOpened();
    return connection;
  }

  function drop(connection: SharedConnection): void {
    if (current === connection) current = undefined;
    if (open.delete(connection)) connection.client.release(true);
  }

  function isUsable({ client, waiting, activeAt }: SharedConnection): boolean {
    const isSilent = waiting > 0 && performance.now() - activeAt > patienceMs;
    return !connections.isOutdated(client) && !(isSilent && open.size < maxSharedConnections);
  }

  function connection(): MaybePromise<SharedConnection> {
    if (current && isUsable(current)) return current;
    if (current?.waiting === 0) drop(current);
    current = undefined;
    opening ??= connect().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function execute<T>(used: SharedConnection, statement: Statement<T>, isRetry = false): Promise<T> {
    if (used.waiting++ === 0) used.activeAt = performance.now();
    try {
      return await statement(used.client);
    } catch (error) {
      if (isLostConnection(error)) drop(used);
      if (isRetry || !isStaleStatement(error)) throw error;
      connections.renew(used.client);
    } finally {
      used.waiting--;
      used.activeAt = performance.now();
      if (used.waiting === 0 && used !== current) drop(used);
    }
    return await execute(await connection(), statement, true);
  }

  return {
    /** Runs a statement on the connection for new statements; again on another one if it is prepared and cannot run any more. */
    run: <T>(statement: Statement<T>): MaybePromise<T> => mapMaybe(connection(), (used) => execute(used, statement)),

    release(): void {
      for (const each of open) drop(each);
    },
  };
}
