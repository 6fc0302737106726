// A whole server in this process, on a free port, with a first organization and its owner.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import pino from "pino";
import type { Narrowing } from "../../src/authn/caller.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { type Config, toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { newLog } from "../../src/observe/log.ts";
import { type Server, startServer } from "../../src/server/server.ts";
import { createOrganization } from "../../src/services/iam/bootstrap.ts";
import type { Database } from "../../src/storage/database.ts";
import { newMigratedDatabase, writeMigratedFile } from "./migrated.ts";
import { freePort } from "./postgres.ts";
import { bringKeys } from "./server-keys.ts";

export type DatabaseKind = "sqlite" | "postgres";

export interface TestServerOptions {
  readonly database?: DatabaseKind;
  /** The clock of the server, and of the terms of role bindings unless they follow the database. */
  readonly clock?: Clock;
  /** Whether terms of role bindings begin and end by the time of the database in spite of the clock; false if absent. */
  readonly termsFollowDatabase?: boolean;
  /** Settings by name, as flags give them in camelCase. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether the server forwards its writes to another one on the same SQLite file, as a worker does. */
  readonly forwardsWrites?: boolean;
  /** Takes the log lines; nobody does when absent. */
  readonly log?: NodeJS.WritableStream;
}

/** A running server and what a test needs to call it. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly config: Config;
  readonly server: Server;
  /** The server's clock. */
  readonly clock: Clock;
  /** The root group `example.org` and the identity that owns it and operates the installation. */
  readonly groupUid: string;
  readonly ownerUid: string;
  /** A token of the owner for the API, and one for the registry. */
  readonly ownerToken: string;
  readonly registryToken: string;
  /** Returns a token of any identity, as an exchange would make it; for the API unless an audience is named. */
  tokenOf(identityUid: string, narrowing?: Narrowing, ...audience: readonly string[]): Promise<string>;
}

const key = "the key of a group of processes";

/** A server without any organization. */
export type EmptyServer = Pick<TestServer, "url" | "config" | "server"> & AsyncDisposable;

/** Starts a server in development mode with a first organization; disposing of it ends it and removes its data. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const empty = await startEmptyServer(options);
  const { config, server } = empty;
  const clock = options.clock ?? systemClock;
  const context = { actor: "", method: "test", requestId: "", time: clock() };
  const owner = { issuer: "https://issuer.example.org", subject: "owner" };
  const { groupUid, ownerUid } = await server.database.write(context, (tx) =>
    createOrganization(tx, "example.org", owner),
  );

  async function tokenOf(subject: string, narrowing: Narrowing = {}, ...named: readonly string[]): Promise<string> {
    const act = { iss: owner.issuer, sub: "test", aud: config.baseUrl };
    const audience = named.length > 0 ? named : [config.baseUrl];
    return (await server.tokens.issue({ subject, audience, act, grants: {}, narrowing })).token;
  }

  return {
    url: server.url,
    config,
    server,
    clock,
    groupUid,
    ownerUid,
    ownerToken: await tokenOf(ownerUid),
    registryToken: await tokenOf(ownerUid, {}, config.registry.service),
    tokenOf,
    [Symbol.asyncDispose]: () => empty[Symbol.asyncDispose](),
  };
}

/** Starts a server in development mode; disposing of it ends it and removes its data. */
export async function startEmptyServer(options: TestServerOptions = {}): Promise<EmptyServer> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "gatehouse-test-"));
  const databaseUrl = options.database === "postgres" ? await newMigratedDatabase() : "";
  const listen = `127.0.0.1:${await freePort()}`;
  // The sinks of tests may be real addresses.
  const settings = { dev: true, dataDir, databaseUrl, listen, eventDelivery: "off", ...options.settings };
  const config = toConfig(readSettings(settings, {}));
  const log = options.log ? newLog({ level: "trace", format: "json" }, options.log) : pino({ level: "silent" });
  const clock = options.clock ?? systemClock;
  // An existing database may have keys already, or its start is under test: only a new one is prepared.
  const isNew = config.dataDir === dataDir && options.settings?.databaseUrl === undefined;
  if (isNew && databaseUrl === "") await writeMigratedFile(dataDir);
  const bring = isNew ? (database: Database) => bringKeys(config, database, clock) : undefined;
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const termClock = options.termsFollowDatabase ? undefined : options.clock;
  const group = (isWriter: boolean) => (options.forwardsWrites ? { isWriter, key } : undefined);
  if (options.forwardsWrites)
    opened.use(
      await startServer({ ...config, port: await freePort() }, log, clock, {
        admit: bring,
        group: group(true),
        termClock,
      }),
    );
  const admit = options.forwardsWrites ? undefined : bring;
  const server = opened.use(await startServer(config, log, clock, { admit, group: group(false), termClock }));
  const closing = opened.move();
  return {
    url: server.url,
    config,
    server,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
