// A session on one connection that many requests use at once. The statements of an event-loop tick are sent in one write,
// and none waits for the response of another.
import type pg from "pg";
import { type MaybePromise, mapMaybe } from "../../../base/maybe-promise.ts";
import type { Session, SessionDialect } from "../session.ts";
import { isLostConnection } from "./errors.ts";
import type { PostgresPool } from "./pool.ts";

/** A session whose connection is replaced when it breaks or leads to a server that must not be used. */
export interface SharedSession {
  readonly session: Session;
  /** Opens the connection. Rejects with StorageUnavailable. */
  open(): Promise<void>;
  /** Closes the connection. */
  release(): void;
}

/** Creates the session. `sessionOf` returns the session of a connection; `onOpened` is called for each new connection. */
export function newSharedSession(
  connections: PostgresPool["shared"],
  dialect: SessionDialect,
  sessionOf: (client: pg.PoolClient) => Session,
  onOpened: () => void,
): SharedSession {
  let current: pg.PoolClient | undefined;
  let opening: Promise<pg.PoolClient> | undefined;

  async function open(): Promise<pg.PoolClient> {
    const client = await connections.connect();
    client.once("end", () => drop(client));
    current = client;
    onOpened();
    return client;
  }

  function drop(client: pg.PoolClient): void {
    if (current !== client) return;
    current = undefined;
    client.release(true);
  }

  function connection(): MaybePromise<pg.PoolClient> {
    if (current && connections.isOutdated(current)) drop(current);
    if (current) return current;
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  return {
    session: {
      ...dialect,
      seesLatest: true,
      prepared(key, build) {
        const execute = async (client: pg.PoolClient, values?: Record<string, unknown>) => {
          try {
            return await sessionOf(client).prepared(key, build).execute(values);
          } catch (error) {
            if (isLostConnection(error)) drop(client);
            throw error;
          }
        };
        return { execute: (values) => mapMaybe(connection(), (client) => execute(client, values)) };
      },
    },
    async open() {
      await connection();
    },
    release() {
      if (current) drop(current);
    },
  };
}
