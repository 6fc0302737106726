// Who is asked at the same time: few in all, and fewer of one host, so that a host that never answers keeps nobody from
// the others.
import { OutboundError } from "./outbound-error.ts";

/** How many. */
export interface FetchSlotsLimits {
  /** Fetches under way; more are UNAVAILABLE for the moment. */
  readonly maxFetches: number;
  /** Those of one host; more wait in line. */
  readonly maxFetchesOfHost: number;
  /** Those that wait for one host; more are UNAVAILABLE for the moment. */
  readonly maxWaitingOfHost: number;
}

/** Places for fetches. */
export interface FetchSlots {
  /** Runs a fetch in a place of this host. Rejects with an OutboundError, unavailable, when there is none to be had. */
  run<T>(host: string, fetch: () => Promise<T>): Promise<T>;
}

interface HostSlots {
  fetches: number;
  readonly waiting: (() => void)[];
}

/** Places that are all free. */
export function newFetchSlots({ maxFetches, maxFetchesOfHost, maxWaitingOfHost }: FetchSlotsLimits): FetchSlots {
  const hosts = new Map<string, HostSlots>();
  let fetches = 0;

  async function enter(host: string): Promise<void> {
    const slots = hosts.get(host) ?? { fetches: 0, waiting: [] };
    if (slots.fetches >= maxFetchesOfHost) {
      if (slots.waiting.length >= maxWaitingOfHost) throw busy("too many issuers of this host are being asked");
      return await new Promise((resolve) => slots.waiting.push(resolve));
    }
    if (fetches >= maxFetches) throw busy("too many issuers are being asked");
    fetches++;
    slots.fetches++;
    hosts.set(host, slots);
  }

  function leave(host: string): void {
    const slots = hosts.get(host)!;
    // The place stays taken where somebody waits for it.
    const next = slots.waiting.shift();
    if (next) {
      next();
      return;
    }
    fetches--;
    if (--slots.fetches === 0) hosts.delete(host);
  }

  return {
    async run(host, fetch) {
      await enter(host);
      try {
        return await fetch();
      } finally {
        leave(host);
      }
    },
  };
}

function busy(message: string): OutboundError {
  return new OutboundError("unavailable", message);
}
