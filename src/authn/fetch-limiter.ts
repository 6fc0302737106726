// Limits concurrent fetches: in total and per host, so a host that never responds does not block fetches from others.
import { OutboundError } from "../outbound/error.ts";

/** The limits of concurrent fetches. */
export interface FetchLimits {
  /** Concurrent fetches in total; further ones are UNAVAILABLE. */
  readonly maxFetches: number;
  /** Concurrent fetches per host; further ones wait. */
  readonly maxFetchesOfHost: number;
  /** Waiting fetches per host; further ones are UNAVAILABLE. */
  readonly maxWaitingOfHost: number;
}

/** Runs fetches within the limits. */
export interface FetchLimiter {
  /**
   * Runs a fetch when the host has a free slot. Rejects with an OutboundError (unavailable) if it has none and too many
   * are waiting.
   */
  run<T>(host: string, fetch: () => Promise<T>): Promise<T>;
}

interface HostSlots {
  fetches: number;
  readonly waiting: (() => void)[];
}

/** Creates a fetch limiter. */
export function newFetchLimiter({ maxFetches, maxFetchesOfHost, maxWaitingOfHost }: FetchLimits): FetchLimiter {
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
    // Hands the slot on to the next waiting fetch.
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
