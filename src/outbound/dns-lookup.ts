// Resolves host names that an untrusted caller chose. The system resolver blocks one of two libuv threads for as long
// as the DNS servers of the name are silent, regardless of our timeout; a few such names would block all lookups. So this
// module asks DNS directly, without threads.
import { promises as dns, type LookupAddress } from "node:dns";
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves a host name to all of its addresses. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** Options of a lookup. */
export interface LookupOptions {
  /** Addresses of DNS servers, with or without a port. Absent means those of the system. */
  readonly servers?: readonly string[];
  /** The fallback resolver. Absent means the system's. */
  readonly system?: Lookup;
}

/** DNS servers get two tries. The timeout is in milliseconds and doubles for the second try. */
const patience = { timeout: 1000, tries: 2 };

/**
 * The total time for DNS in milliseconds, however many servers are silent. It leaves time for the system resolver and
 * for the document itself.
 */
const maxDnsMs = 3000;

/** How long a name waits for the system resolver while it resolves another name. */
const maxWaitMs = 1000;

/**
 * Creates a lookup that asks DNS first, then the system resolver, which also knows the hosts file. The system resolver
 * gets one name at a time, which leaves a thread for names of the operator.
 */
export function newLookup({ servers, system = lookUpBySystem }: LookupOptions = {}): Lookup {
  let isAsked: Promise<void> | undefined;

  async function askSystem(hostname: string): Promise<LookupAddress[]> {
    const end = performance.now() + maxWaitMs;
    for (let left = maxWaitMs; isAsked; left = end - performance.now()) {
      if (left <= 0) throw new Error("the system is being asked for another name");
      await Promise.race([isAsked, sleep(left, undefined, { ref: false })]);
    }
    const asking = system(hostname);
    const done = () => {
      isAsked = undefined;
    };
    isAsked = asking.then(done, done);
    return await asking;
  }

  return async (hostname) => {
    const found = await askDns(hostname, servers);
    return found.length > 0 ? found : await askSystem(hostname);
  };
}

/** Resolves a name with the system resolver: hosts file, DNS and any other source that the machine is configured for. */
export async function lookUpBySystem(hostname: string): Promise<LookupAddress[]> {
  return await dns.lookup(hostname, { all: true, order: "verbatim" });
}

/** Returns the addresses in DNS, or an empty list on any failure. */
async function askDns(hostname: string, servers: LookupOptions["servers"]): Promise<LookupAddress[]> {
  // A new resolver each time: the DNS servers of the system may have changed.
  const resolver = new dns.Resolver(patience);
  if (servers) resolver.setServers(servers);
  const ask = async (family: 4 | 6) => {
    const addresses = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname));
    return addresses.map((address) => ({ address, family }));
  };
  const end = setTimeout(() => resolver.cancel(), maxDnsMs);
  const answers = await Promise.allSettled([ask(4), ask(6)]);
  clearTimeout(end);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}
