// Chooses the host of the database that accepts writes, among several. After a failover it is another one.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { hostsOf, type PostgresHost } from "../../../base/postgres-url.ts";
import { newReader } from "../../../base/shared-reader.ts";
import type { DatabaseLimits } from "../dialect.ts";
import { StorageUnavailable } from "../errors.ts";
import { refuseStandby, type WritableRow, writableQuery } from "./writability.ts";

/** In milliseconds. */
const times = {
  /** How long a host is asked before the next one is asked as well. */
  headStart: 250,
  /** How long a failed search takes at least: otherwise requests flood the hosts with connections. */
  failedSearch: 100,
  /** How old a search may be for a new request to share it. It may wait for a host that does not respond. */
  shared: 500,
};

/** The hosts of one database. */
export interface Hosts {
  /** Returns the host for new connections. */
  current(): PostgresHost;
  /** Calls the listener after each change of the current host. */
  onChange(listener: () => void): void;
  /** Finds the host that accepts writes, unless it is known. Rejects with StorageUnavailable if no host can be used. */
  choose(): Promise<void>;
  /** Reports that the host may no longer accept writes. */
  suspect(host: PostgresHost): void;
  readonly hasSeveral: boolean;
  /** Searches now, instead of at the next connection. */
  search(): void;
}

/** Creates the hosts of a URL. */
export function newHosts(url: string, { connectTimeoutMs }: Pick<DatabaseLimits, "connectTimeoutMs">): Hosts {
  const hosts = hostsOf(withVerifyFull(url));
  const listeners: (() => void)[] = [];
  let current = hosts[0]!;
  // The only host is used without a check: its connections are checked anyway.
  let isKnown = hosts.length === 1;
  let suspicions = 0;
  const searches = newReader(search, { maxAgeMs: times.shared, patienceMs: times.shared });

  async function search(): Promise<void> {
    const suspicionsBefore = suspicions;
    // The last good one first.
    const order = [current, ...hosts.filter((host) => host !== current)];
    const found = await findWritable(order, (host) => probe(host, connectTimeoutMs));
    isKnown = suspicions === suspicionsBefore;
    if (found === current) return;
    current = found;
    for (const listener of listeners) listener();
  }

  async function choose(): Promise<void> {
    if (!isKnown) await searches.current();
  }

  function suspect(host: PostgresHost): void {
    if (host !== current || hosts.length === 1) return;
    isKnown = false;
    suspicions++;
    searches.invalidate();
  }

  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    choose,
    suspect,
    hasSeveral: hosts.length > 1,
    search() {
      suspect(current);
      choose().catch(() => {});
    },
  };
}

/**
 * Names what node-postgres does: it verifies certificate and host for these values, too, and warns of them. With
 * uselibpqcompat they verify less.
 */
function withVerifyFull(url: string): string {
  if (url.includes("uselibpqcompat=true")) return url;
  return url.replace(/([?&]sslmode=)(?:require|verify-ca)(?=&|$)/, "$1verify-full");
}

/** A host that responded. */
interface Probed {
  readonly host: PostgresHost;
  readonly isReadOnly: boolean;
}

/** Returns the first host that accepts writes, else a primary that is read-only now. */
async function findWritable(
  hosts: readonly PostgresHost[],
  ask: (host: PostgresHost) => Promise<Probed>,
): Promise<PostgresHost> {
  const probes: Promise<Probed>[] = [];
  for (const host of hosts) {
    const probed = ask(host);
    probes.push(probed);
    const [first] = await Promise.allSettled([Promise.race([probed, sleep(times.headStart)])]);
    if (first?.status === "fulfilled" && first.value?.isReadOnly === false) return host;
  }
  const writable = probes.map(async (probed) => {
    const { host, isReadOnly } = await probed;
    if (isReadOnly) throw new Error("read-only");
    return host;
  });
  try {
    return await Promise.any(writable);
  } catch {
    const results = await Promise.allSettled(probes);
    const readOnly = results.find((result) => result.status === "fulfilled");
    if (readOnly) return readOnly.value.host;
    await sleep(times.failedSearch);
    const reasons = results.map((result, index) => `${hosts[index]!.name}: ${messageOf(result)}`);
    throw new StorageUnavailable("no connection to the database could be had", {
      cause: new Error(reasons.join("; ")),
    });
  }
}

async function probe(host: PostgresHost, timeoutMs: number): Promise<Probed> {
  const client = new pg.Client({
    connectionString: host.url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const [row] = (await client.query<WritableRow>(writableQuery)).rows;
    refuseStandby(row);
    return { host, isReadOnly: row?.read_only ?? false };
  } finally {
    void client.end().catch(() => {});
  }
}

function messageOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === "fulfilled") return "";
  const { reason } = result;
  return reason instanceof Error ? reason.message || reason.name : String(reason);
}
