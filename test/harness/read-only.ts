// Makes a database of PostgreSQL read-only, as after a failover.
import pg from "pg";

/** Makes a database read-only, or writable again. */
export interface ReadOnlySwitch extends AsyncDisposable {
  /** Makes it read-only and ends the sessions of others: like after a restart of the server, all of them are new. */
  turnOn(): Promise<void>;
  /** Makes it writable. The sessions that began meanwhile stay read-only. */
  turnOff(): Promise<void>;
}

/** Connects to a database that is made read-only. Disposing of it ends the connection. */
export async function openReadOnlySwitch(databaseUrl: string): Promise<ReadOnlySwitch> {
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  const { rows } = await admin.query("SELECT current_database() AS name");
  const alter = (text: string) => admin.query(`ALTER DATABASE ${rows[0].name} ${text}`);
  return {
    async turnOn() {
      await alter("SET default_transaction_read_only = on");
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    },
    async turnOff() {
      await alter("RESET default_transaction_read_only");
    },
    [Symbol.asyncDispose]: () => admin.end(),
  };
}
