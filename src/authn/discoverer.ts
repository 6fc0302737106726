import { checkIssuer } from "../model/issuer-url.ts";
import { OutboundError } from "../outbound/error.ts";
import { type FetchJson, fetchDiscovery } from "./issuer-documents.ts";

/** Options of the discoverer. */
export interface DiscovererOptions {
  readonly fetchJson: FetchJson;
  readonly allowInsecureIssuers: boolean;
  /** The maximum number of concurrent fetches. */
  readonly maxFetches: number;
}

/**
 * Returns a function that fetches the discovery document of an issuer. It returns undefined if the issuer does not
 * respond, responds with something else, or if `maxFetches` fetches are running.
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
