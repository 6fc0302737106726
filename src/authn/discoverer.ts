import { type FetchJson, fetchDiscovery } from "./issuer-documents.ts";
import { checkIssuer } from "./issuer-url.ts";
import { OutboundError } from "./outbound-error.ts";

/** What asking an issuer rests on. */
export interface DiscovererOptions {
  readonly fetchJson: FetchJson;
  readonly allowInsecureIssuers: boolean;
  /** How many issuers are asked at the same time. */
  readonly maxFetches: number;
}

/**
 * Asks issuers what they can do; undefined for one that does not answer, answers with something else, or is not asked
 * since too many are.
 */
export function newDiscoverer({ fetchJson, allowInsecureIssuers, maxFetches }: DiscovererOptions) {
  let fetches = 0;
  return async (issuer: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    if (checkIssuer(issuer, allowInsecureIssuers) !== undefined || fetches >= maxFetches) return undefined;
    fetches++;
    try {
      return await fetchDiscovery(issuer, fetchJson);
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    } finally {
      fetches--;
    }
  };
}
