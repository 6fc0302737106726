// Fetches the keys of issuers, with limits on how often and how many at once.
import { isLoopbackUrl } from "../base/address-ranges.ts";
import type { Clock } from "../base/clock.ts";
import { OutboundError } from "../outbound/error.ts";
import { type FetchLimits, newFetchLimiter } from "./fetch-limiter.ts";
import { type FetchJson, fetchKeys } from "./issuer-documents.ts";
import { type IssuerEntry, isKnown } from "./issuer-entries.ts";
import { retryDelayMs } from "./retry-delay.ts";

interface RefreshOptions {
  readonly fetchJson: FetchJson;
  readonly clock: Clock;
}

type Refresh = (entry: IssuerEntry) => Promise<void>;

/**
 * Returns a function that fetches the keys of an entry, or joins the running fetch, stores the outcome in the entry and
 * calls `keep`. Unknown issuers do not use the fetch slots of known ones.
 */
export function refresher(
  { fetchJson, clock }: RefreshOptions,
  limits: FetchLimits,
  keep: (entry: IssuerEntry) => void,
): Refresh {
  const [knownSlots, unknownSlots] = [newFetchLimiter(limits), newFetchLimiter(limits)];

  async function refresh(entry: IssuerEntry): Promise<void> {
    try {
      entry.keys = await fetchKeys(entry.issuer, fetchJson);
      entry.fetchedAt = clock();
      entry.failure = undefined;
      entry.failures = 0;
      entry.retryAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      entry.failure = error;
      entry.retryAt = clock() + retryDelayMs(++entry.failures);
      // An issuer that publishes an invalid document has withdrawn its keys.
      if (error.failure === "refused") entry.keys = undefined;
    }
    keep(entry);
  }

  return (entry: IssuerEntry): Promise<void> => {
    const slots = isKnown(entry) ? knownSlots : unknownSlots;
    entry.fetching ??= slots
      .run(hostOf(entry.issuer), () => refresh(entry))
      .finally(() => {
        entry.fetching = undefined;
      });
    return entry.fetching;
  };
}

/**
 * Returns a function that fetches the keys again for a token that none of them verifies, at most once per cooldown (security
 * case T12).
 */
export function refetcher(refresh: Refresh, clock: Clock, cooldownMs: number) {
  return async (entry: IssuerEntry, why: keyof IssuerEntry["askedAt"]): Promise<void> => {
    const before = entry.askedAt[why];
    const mayAsk = entry.failure ? clock() >= entry.retryAt : clock() - before >= cooldownMs;
    if (mayAsk) entry.askedAt[why] = clock();
    if (mayAsk || entry.fetching) {
      await refresh(entry).catch((error: unknown) => {
        // No fetch happened because too many are running.
        entry.askedAt[why] = before;
        throw error;
      });
    }
    if (entry.failure) throw entry.failure;
  };
}

/**
 * Returns the host that a fetch burdens: all ports of a host count together, except on loopback, where each port is
 * another program.
 */
function hostOf(issuer: string): string {
  const url = new URL(issuer);
  return isLoopbackUrl(url) ? url.host : url.hostname;
}
