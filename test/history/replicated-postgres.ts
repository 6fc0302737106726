// A primary of PostgreSQL with one standby, which takes over again and again.
import { setTimeout as pause } from "node:timers/promises";
import { type DebianServer, startDebianPostgres } from "../harness/debian-postgres.ts";
import type { PostgresProxy } from "../harness/postgres-proxy.ts";
import { untilTrue } from "../harness/until.ts";

/** Whether a commit waits for the standby. */
export type Replication = "synchronous" | "asynchronous";

const database = "gatehouse";

/** Pages since the last copy of the data are not flushed: only processes end, not the machine. */
const settings = { fsync: "off", full_page_writes: "off", wal_keep_size: "256MB", checkpoint_timeout: "30min" };

/** A primary and its standby. */
export class ReplicatedPostgres implements AsyncDisposable {
  readonly #replication: Replication;
  #primary: DebianServer;
  #standby: DebianServer;
  /** The proxies of each server to its two hosts, in the order of its URL. */
  readonly #proxies: (readonly [PostgresProxy, PostgresProxy])[] = [];
  /** The index of the host that is the primary. */
  #primaryHost = 0;

  private constructor(replication: Replication, primary: DebianServer, standby: DebianServer) {
    this.#replication = replication;
    this.#primary = primary;
    this.#standby = standby;
  }

  static async start(replication: Replication): Promise<ReplicatedPostgres> {
    await using opened = new AsyncDisposableStack();
    const primary = opened.use(await startDebianPostgres({ settings }));
    await primary.query(`CREATE DATABASE ${database}`);
    const standby = opened.use(await startDebianPostgres({ settings, primary }));
    const started = new ReplicatedPostgres(replication, primary, standby);
    await started.#replicate();
    opened.move();
    return started;
  }

  /** The URL of the database on the present primary. */
  get url(): string {
    return this.#primary.url(database);
  }

  /** The URLs of the two hosts. */
  get hosts(): readonly [string, string] {
    return [this.#primary.url(database), this.#standby.url(database)];
  }

  /** Makes proxies to the two hosts follow a failover. Returns the URL with both. */
  follow(proxies: readonly [PostgresProxy, PostgresProxy]): string {
    this.#proxies.push(proxies);
    const [first, second] = proxies.map(({ url }) => new URL(url).host);
    return `postgres://postgres@${first},${second}/${database}?target_session_attrs=read-write`;
  }

  /**
   * Disconnects the standby, stops the primary after `lagMs`, and promotes the standby. A new standby then takes the place of the
   * stopped primary. Commits that wait for the disconnected standby are never acknowledged.
   */
  async failOver(lagMs: number): Promise<void> {
    await this.#standby.query("ALTER SYSTEM SET primary_conninfo = ''");
    await this.#standby.query("SELECT pg_reload_conf()");
    await pause(lagMs);
    const stopped = this.#primary;
    await stopped.stop("SIGQUIT");
    await this.#standby.query("SELECT pg_promote()");
    this.#primary = this.#standby;
    this.#standby = await startDebianPostgres({ settings, primary: this.#primary });
    for (const pair of this.#proxies) pair[this.#primaryHost]!.target = this.#standby.port;
    this.#primaryHost = 1 - this.#primaryHost;
    await stopped[Symbol.asyncDispose]();
    await this.#replicate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#standby[Symbol.asyncDispose]();
    await this.#primary[Symbol.asyncDispose]();
  }

  /** Waits until the standby has everything, and lets commits wait for it from then on. */
  async #replicate(): Promise<void> {
    if (this.#replication === "synchronous") {
      // Set after the standby has copied the data: it must not wait for another standby once it is promoted.
      await this.#primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await this.#primary.query("SELECT pg_reload_conf()");
    }
    const state = this.#replication === "synchronous" ? "sync" : "async";
    await untilTrue(async () => {
      const [row] = await this.#primary.query("SELECT state, sync_state FROM pg_stat_replication");
      return row?.state === "streaming" && row.sync_state === state;
    });
  }
}
