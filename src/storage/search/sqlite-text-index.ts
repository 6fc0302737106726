// Texts in SQLite: an FTS5 index of trigrams, which triggers keep (schema/migrations/sqlite).
import type { SQL } from "drizzle-orm";
import { rangeBelow, rootOf } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import { and, sql } from "../schema/drizzle.ts";
import { likePattern } from "./like-pattern.ts";
import { childLength } from "./source-place.ts";
import type { IndexQuery, TextIndex } from "./text-index.ts";

/**
 * The place to search. `trigrams`: the index, then the texts that it returns. `index`: the index alone, which is exact for a term of
 * three characters in a whole organization. `organization`: the texts of the organization, in the order in which they are stored.
 * `range`: the texts of the source, in the order of their uids.
 */
type Way = "trigrams" | "index" | "organization" | "range";

export const sqliteTextIndex: TextIndex = {
  async find(session, query, maxUids) {
    const way = wayOf(query);
    const statement = session.prepared(`advisory_texts.find.${way}`, (db) => {
      const { from, where } = lookIn(way);
      return db.select({ uid: sql<string>`t.uid` }).from(from).where(where).limit(limitOf("maxUids"));
    });
    const rows = await statement.execute({ ...valuesOf(query), maxUids });
    return rows.map(({ uid }) => uid);
  },

  async count(session, query) {
    const isExact = query.parts.length === 1 && [...query.term].length === 3 && isWhole(query);
    const way = isExact ? "index" : wayOf(query);
    const statement = session.prepared(`advisory_texts.count.${way}`, (db) => {
      const { from, where } = lookIn(way);
      return db.select({ count: sql<number>`count(*)` }).from(from).where(where);
    });
    const rows = await statement.execute(valuesOf(query));
    return Number(rows[0]?.count);
  },
};

function wayOf(query: IndexQuery): Way {
  if (query.cost < 1) return "trigrams";
  return isWhole(query) ? "organization" : "range";
}

/** Whether the source has all texts of its organization. */
function isWhole({ size, organizationSize }: IndexQuery): boolean {
  return size === organizationSize;
}

function lookIn(way: Way): { readonly from: SQL; readonly where: SQL | undefined } {
  const contains = sql`t.text like ${textPlaceholder("pattern")} escape '\\'`;
  const length = sql`cast(${sql.placeholder("length")} as integer)`;
  const inSource = sql`t.uid >= ${textPlaceholder("from")} and t.uid < ${textPlaceholder("to")} and (${length} is null or length(t.uid) = ${length})`;
  const matches = sql`advisory_text_index match ${textPlaceholder("match")}`;
  const texts = sql`advisory_texts t`;
  if (way === "organization") return { from: texts, where: and(inBlock(sql`t.id`), contains) };
  if (way === "range") return { from: texts, where: and(inSource, contains) };
  if (way === "index") return { from: sql`advisory_text_index i`, where: and(matches, inBlock(sql`i.rowid`)) };
  return {
    from: sql`advisory_text_index i join advisory_texts t on t.id = i.rowid`,
    where: and(matches, inBlock(sql`i.rowid`), inSource, contains),
  };
}

/** Returns the numbers of the texts of one organization: they have the upper bits in common. */
function inBlock(id: SQL): SQL {
  const any = (number: SQL) =>
    sql`(select ${number} from advisory_texts where uid > ${textPlaceholder("organization")} and uid < ${textPlaceholder("organizationEnd")} limit 1)`;
  return sql`${id} >= ${any(sql`(id >> 40) << 40`)} and ${id} < ${any(sql`((id >> 40) + 1) << 40`)}`;
}

function valuesOf({ term, source, parts }: IndexQuery): Record<string, unknown> {
  const organization = rangeBelow(rootOf(source.uid));
  return {
    pattern: likePattern(term),
    match: parts.map(quoted).join(" AND "),
    ...rangeBelow(source.uid),
    length: childLength(source),
    organization: organization.from,
    organizationEnd: organization.to,
  };
}

/** Returns a string of FTS5 (https://sqlite.org/fts5.html, section 3.1). */
function quoted(part: string): string {
  return `"${part.replaceAll('"', '""')}"`;
}
