// Reads and makes the page tokens of lists about access. They are encrypted: the last entry of a page may be a role binding whose uid
// the caller must not learn.
import type { Message } from "@bufbuild/protobuf";
import { newEncryptedTokens } from "../../aip/encrypted-token.ts";
import { invalidField } from "../../aip/errors.ts";
import { parseOrderBy } from "../../aip/order-by.ts";
import { formatPageToken } from "../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../aip/pagination.ts";
import { newViolations } from "../../aip/violations.ts";
import type { Call } from "../../pipeline/call.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import type { PageRequest } from "../../resource/list-page.ts";
import type { ServiceContext } from "../../resource/service-context.ts";

/** The page that a request asks for. */
export interface AccessPage {
  readonly size: number;
  readonly skip: number;
  readonly descending: boolean;
  /** The cursor of the last entry of the previous page, such as its uid; empty for the first page. */
  readonly after: string;
  /** A digest of the query, to which its page tokens are bound. */
  readonly query: string;
}

/** Returns the pages of a list that is ordered by this field. */
export function accessPages({ pageTokenKey, clock }: ServiceContext, field: string) {
  const encrypted = newEncryptedTokens(() => pageTokenKey, "access-page");
  return {
    read(request: PageRequest & Message, call: Call): AccessPage {
      const violations = newViolations();
      const size = effectivePageSize(request.pageSize, violations);
      const skip = effectiveSkip(request.skip, violations);
      const requested = parseOrderBy(request.orderBy, { [field]: field }, violations);
      violations.throwIfAny();
      const query = queryDigest(call, request);
      const order = requested && orderOf(requested.descending);
      const token = readToken({ pageTokenKey, clock }, call, request.pageToken, query, order);
      const after = token && encrypted.parse(token.uid, query)?.toString();
      if (token && after === undefined) throw invalidField("page_token", "is not a page token of this service");
      const descending = requested?.descending ?? token?.order === orderOf(true);
      return { size, skip, descending, after: after ?? "", query };
    },

    /** Returns the token of the page that follows an entry. */
    next({ query, descending }: AccessPage, last = ""): string {
      const uid = encrypted.format(Buffer.from(last), query);
      return formatPageToken(pageTokenKey, { issuedAt: clock(), query, order: orderOf(descending), value: "", uid });
    },
  };
}

function orderOf(descending: boolean): string {
  return descending ? "desc" : "asc";
}
