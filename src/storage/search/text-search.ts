// Searches the texts of advisories through the trigram index of the database (docs/decisions/0052).
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import type { TextQuery, TextSearch } from "../list/text-search.ts";
import { and, asc, gte, lt, sql } from "../schema/drizzle.ts";
import { likePattern } from "./like-pattern.ts";
import { childLength } from "./source-place.ts";
import { sqliteTextIndex } from "./sqlite-text-index.ts";
import { selectParts } from "./term-parts.ts";
import type { IndexQuery, TextIndex } from "./text-index.ts";

/** The limits within which the index is used. */
export interface SearchLimits {
  /** So many texts at most are read as fast as they are found in the index. */
  readonly fewTexts: number;
  /** The number of texts of a source that are sampled to find the rare parts of a term. */
  readonly sampleSize: number;
}

const defaultLimits: SearchLimits = { fewTexts: 1000, sampleSize: 200 };

/** Makes the search of one database. */
export function newTextSearch(
  { keepsTextIndex }: Pick<Session, "keepsTextIndex">,
  limits: SearchLimits = defaultLimits,
): TextSearch {
  const index = keepsTextIndex ? postgresTextIndex : sqliteTextIndex;
  return {
    async find(session, given, maxUids) {
      // Texts are stored with replacement characters in place of lone surrogates.
      const query = { ...given, term: given.term.toWellFormed() };
      const sample = query.size <= limits.fewTexts ? [] : await readSample(session, query, limits.sampleSize);
      const indexQuery = { ...query, ...selectParts(query.term, sample) };
      const isMany = isSurelyMany(query, sample, maxUids);
      const known = isMany ? await index.count(session, indexQuery) : undefined;
      if (known !== undefined && known > maxUids) return { count: known };
      const uids = await index.find(session, indexQuery, maxUids + 1);
      if (uids.length <= maxUids) return { count: uids.length, uids: uids.sort() };
      return { count: known ?? (await index.count(session, indexQuery)) };
    },
  };
}

/** Whether a sample leaves little doubt that more texts contain the term than are to be named. */
function isSurelyMany({ term, size }: TextQuery, sample: readonly string[], maxUids: number): boolean {
  const matches = sample.filter((text) => text.includes(term)).length;
  return matches >= minMatches && (matches / sample.length) * size > 4 * maxUids;
}

/** So many matches in a sample cannot be a coincidence. */
const minMatches = 5;

async function readSample(session: Session, { source }: TextQuery, size: number): Promise<string[]> {
  const statement = session.prepared(`advisory_texts.sample.${size}`, (db, { advisoryTexts: texts }) =>
    db
      .select({ text: texts.text })
      .from(texts)
      .where(and(gte(texts.uid, textPlaceholder("from")), lt(texts.uid, textPlaceholder("to"))))
      .orderBy(asc(texts.uid))
      .limit(limitOf(size)),
  );
  const rows = await statement.execute(rangeBelow(source.uid));
  return rows.map(({ text }) => text);
}

const place = sql`${textPlaceholder("from")}, ${textPlaceholder("to")}, cast(${sql.placeholder("length")} as integer)`;
const values = ["first", "second", "term"].map(textPlaceholder);
const given = sql`${sql.join(values, sql`, `)}, ${place}`;

const postgresTextIndex: TextIndex = {
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
