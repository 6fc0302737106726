// Two servers on one PostgreSQL, of which the second one is behind a proxy.
import { newMigratedDatabase } from "./migrated.ts";
import { openPostgresProxy, type PostgresProxy } from "./postgres-proxy.ts";
import {
  type EmptyServer,
  startEmptyServer,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "./server.ts";

export interface TwoNodes extends AsyncDisposable {
  /** The node that reaches the database directly. */
  readonly one: TestServer;
  /** The node behind the proxy, which takes the tokens of the first. */
  readonly other: EmptyServer;
  readonly proxy: PostgresProxy;
  readonly databaseUrl: string;
}

/** Starts both on a new database, with further settings. */
export async function startTwoNodes(settings: TestServerOptions["settings"] = {}): Promise<TwoNodes> {
  await using opened = new AsyncDisposableStack();
  const databaseUrl = await newMigratedDatabase();
  const one = opened.use(await startTestServer({ settings: { ...settings, databaseUrl } }));
  const proxy = opened.use(await openPostgresProxy(databaseUrl));
  const { baseUrl, dataDir } = one.config;
  const other = opened.use(
    await startEmptyServer({ settings: { ...settings, databaseUrl: proxy.url, baseUrl, dataDir } }),
  );
  const everything = opened.move();
  return { one, other, proxy, databaseUrl, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}
