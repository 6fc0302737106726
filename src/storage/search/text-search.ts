// Searches the texts of advisories through the trigram index of the database (docs/decisions/0052).
import { rangeBelow } from "../../model/uid.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import type { TextQuery, TextSearch } from "../list/text-search.ts";
import { and, asc, gte, lt } from "../schema/drizzle.ts";
import { postgresTextIndex } from "./postgres-text-index.ts";
import { sqliteTextIndex } from "./sqlite-text-index.ts";
import { selectParts } from "./term-parts.ts";

/** The limits within which the index is used. */
export interface SearchLimits {
  /** So many texts at most are read as fast as they are found in the index. */
  readonly fewTexts: number;
  /** The number of texts of a source that are sampled to find the rare parts of a term. */
  readonly sampleSize: number;
}

const defaultLimits: SearchLimits = { fewTexts: 1000, sampleSize: 200 };

/** Makes the search of one database. */
export function newTextSearch(dialect: "sqlite" | "postgres", limits: SearchLimits = defaultLimits): TextSearch {
  const index = dialect === "sqlite" ? sqliteTextIndex : postgresTextIndex;
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
