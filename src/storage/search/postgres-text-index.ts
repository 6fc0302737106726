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

function valuesOf({ term, source, parts, cost }: IndexQuery) {
  // Where the parts are frequent, PostgreSQL judges better by the whole term whether its index is of use.
  const [first = term, second = first] = cost < 1 ? parts : [];
  const patterns = { first: likePattern(first), second: likePattern(second) };
  return { ...patterns, term, ...rangeBelow(source.uid), length: childLength(source) };
}
