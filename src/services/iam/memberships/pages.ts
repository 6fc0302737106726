import type { Message } from "@bufbuild/protobuf";
import { formatPageToken } from "../../../aip/page-token.ts";
import { effectivePageSize } from "../../../aip/pagination.ts";
import { newViolations } from "../../../aip/violations.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { queryDigest, readToken } from "../../../resource/bound-page-token.ts";
import { readTogether, type ServiceContext } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import type { Membership } from "../../../storage/iam/memberships.ts";
import { isUserUid } from "../users/user-uid.ts";
import { requirePerson } from "./person.ts";

/** A request for a page. */
type PageRequest = Message & { readonly pageSize: number; readonly pageToken: string };

/** Makes the function that reads a page of the caller's organizations: `find` returns those after a uid, `show` the item of one. */
export function newOrganizationPages(context: ServiceContext) {
  const { database, clock, pageTokenKey } = context;
  return async <R extends Pick<Membership, "groupUid">, T>(
    request: PageRequest,
    call: Call,
    find: (session: Session, identityUid: string, after: string, limit: number) => Promise<readonly R[]>,
    show: (session: Session, row: R & Membership) => Promise<T>,
  ): Promise<{ readonly items: T[]; readonly nextPageToken: string }> => {
    const violations = newViolations();
    const pageSize = effectivePageSize(request.pageSize, violations);
    violations.throwIfAny();
    const { uid: identityUid } = callerOf(call);
    if (!isUserUid(identityUid)) return { items: [], nextPageToken: "" };
    requirePerson(call);
    const query = queryDigest(call, request);
    const after = readToken(context, call, request.pageToken, query)?.uid ?? "";
    return await readTogether(database, call, async (session) => {
      const found = await find(session, identityUid, after, pageSize + 1);
      const rows = found.slice(0, pageSize);
      const items: T[] = [];
      for (const row of rows) items.push(await show(session, { ...row, identityUid }));
      const last = found.length > pageSize ? rows.at(-1) : undefined;
      const next = last && { issuedAt: clock(), query, order: "", uid: last.groupUid, value: "" };
      return { items, nextPageToken: next ? formatPageToken(pageTokenKey, next) : "" };
    });
  };
}
