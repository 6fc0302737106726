// Texts in PostgreSQL: functions of the database, which find them by the index of pg_trgm where there is one.
import { rangeBelow } from "../../model/uid.ts";
import { numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import { sql } from "../schema/drizzle.ts";
import { likePattern } from "./like-pattern.ts";
import { childLength } from "./source-place.ts";
import type { IndexQuery, TextIndex } from "./text-index.ts";

const place = sql`${textPlaceholder("from")}, ${textPlaceholder("to")}, cast(${sql.placeholder("length")} as integer)`;
const values = ["first", "second", "term"].map(textPlaceholder);
const given = sql`${sql.join(values, sql`, `)}, ${place}`;

export const postgresTextIndex: TextIndex = {
  async find(session, query, maxUids) {
    const statement = session.prepared("advisory_texts.find", (db) =>
      db
        .select({ uid: sql<string>`uid` })
        .from(sql`find_advisory_texts(${given}, ${numberPlaceholder("maxUids")}) as found(uid)`),
    );
    const rows = await statement.execute({ ...valuesOf(query), maxUids });
    return rows.map(({ uid }) => uid);
  },

  async count(session, query) {
    const statement = session.prepared("advisory_texts.count", (db) =>
      db.select({ count: sql<string>`count` }).from(sql`count_advisory_texts(${given}) as counted(count)`),
    );
    const rows = await statement.execute(valuesOf(query));
    return Number(rows[0]?.count);
  },
};

function valuesOf(query: IndexQuery) {
  const { source } = query;
  return { ...patternsOf(query), ...rangeBelow(source.uid), length: childLength(source) };
}

/** Two rare parts of the term, or the term where its parts are frequent or unknown: PostgreSQL then judges its index by that. */
function patternsOf({ term, parts: [first, second], cost }: IndexQuery) {
  if (first === undefined || cost >= 1) return { first: likePattern(term), second: null, term: null };
  return { first: likePattern(first), second: second === undefined ? null : likePattern(second), term };
}
