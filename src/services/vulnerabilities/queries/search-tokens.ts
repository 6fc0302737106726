// Page tokens of package searches.
import { type EncryptedTokens, newEncryptedTokens } from "../../../aip/encrypted-token.ts";
import { invalidField } from "../../../aip/errors.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { SearchPlace } from "./package-search.ts";

/** Formats and parses the tokens. They do not expire: a position is the uid of an advisory after which the search continues. */
export interface SearchTokens {
  /** Returns the empty text at the end. */
  format(place: SearchPlace | undefined, boundTo: string): string;
  /** Returns undefined for the first page. Throws INVALID_ARGUMENT for a token of another query or caller. */
  parse(text: string, boundTo: string, field: string): SearchPlace | undefined;
}

/** Makes the tokens of a method. The label separates them from those of other methods. */
export function newSearchTokens(context: Pick<ServiceContext, "pageTokenKey">, label: string): SearchTokens {
  const tokens: EncryptedTokens = newEncryptedTokens(() => context.pageTokenKey, label);
  return {
    format: (place, boundTo) =>
      place ? tokens.format(Buffer.from(JSON.stringify([place.key, place.uid])), boundTo) : "",
    parse(text, boundTo, field) {
      if (text === "") return undefined;
      const body = tokens.parse(text, boundTo);
      if (!body) throw invalidField(field, "is not a page token of this query and caller");
      const [key, uid] = JSON.parse(body.toString()) as [number, string];
      return { key, uid };
    },
  };
}
