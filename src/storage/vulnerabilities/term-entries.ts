// Reads the index of the terms of advisories.
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, gte, lt } from "../schema/drizzle.ts";
import type { TermFilter } from "./advisory-terms.ts";

/** Returns which advisories below a group have one of these values as a term of one of these filters, `limit` at most. */
export async function findTermEntries(
  session: Session,
  {
    filters,
    values,
    group,
  }: { readonly filters: readonly TermFilter[]; readonly values: readonly string[]; readonly group: string },
  limit: number,
) {
  const statement = session.prepared("advisory_terms.entries", (db, { advisoryTerms: terms }) =>
    db
      .select({ value: terms.value, uid: terms.uid })
      .from(terms)
      .where(
        and(
          session.isAmong(terms.filter, textPlaceholder("filters")),
          session.isAmong(terms.value, textPlaceholder("values")),
          gte(terms.uid, textPlaceholder("from")),
          lt(terms.uid, textPlaceholder("to")),
        ),
      )
      .limit(limitOf("limit")),
  );
  const range = rangeBelow(group);
  return await statement.execute({ filters: JSON.stringify(filters), values: JSON.stringify(values), ...range, limit });
}
