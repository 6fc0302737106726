// Where a name leads that a stranger has chosen. The system's resolver keeps one of two threads of the process (libuv gives
// half of its pool to slow work) for as long as the servers of the name are silent, however soon we stop waiting: with a few
// such names nobody's could be found any more. DNS is therefore asked without threads.
import { promises as dns, type LookupAddress } from "node:dns";
import { setTimeout as sleep } from "node:timers/promises";

/** Finds all addresses of a host name. */
export type Lookup = (hostname: string) => Promise<LookupAddress[]>;

/** What a lookup asks. */
export interface LookupOptions {
  /** Addresses of DNS servers, with or without a port; those of the system when absent. */
  readonly servers?: readonly string[];
  /** The system's resolver when absent. */
  readonly system?: Lookup;
}

/** A server is asked twice, and then given up; in milliseconds, of which the second time takes twice as many. */
const patience = { timeout: 1000, tries: 2 };

/**
 * How long DNS is asked for a name, in milliseconds, however many of its servers are silent: there has to be time left to ask the
 * system, and for the document.
 */
const maxDnsMs = 3000;

/** How long a name waits until the system has found another one. */
const maxWaitMs = 1000;

/**
 * Makes a lookup in DNS. What is not found there may be in a file of this machine: the system is asked, for one name at a
 * time, so that a thread is left for the names of the operator.
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

/** As programs of this machine find names: by its files, DNS, and whatever else it is set up for. */
export async function lookUpBySystem(hostname: string): Promise<LookupAddress[]> {
  return await dns.lookup(hostname, { all: true, order: "verbatim" });
}

/** The addresses in DNS; none for whatever reason there are none. */
async function askDns(hostname: string, servers: LookupOptions["servers"]): Promise<LookupAddress[]> {
  // Made anew, since the system's servers may have changed.
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
