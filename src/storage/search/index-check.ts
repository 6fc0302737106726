// Compares the text index of SQLite with the texts. PostgreSQL keeps its index by itself.
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { asc, gt, sql } from "../schema/drizzle.ts";

const pageSize = 1000;

/** Whether the text index has the trigrams of all texts, and no others. True if the database keeps it. */
export async function textIndexAgrees(session: Session): Promise<boolean> {
  if (session.keepsTextIndex) return true;
  const [ofTexts, ofIndex] = [await trigramsOfTexts(session), await trigramsOfIndex(session)];
  return ofTexts.count === ofIndex.count && ofTexts.sum === ofIndex.sum;
}

/** Makes the text index again from the texts. */
export async function rebuildTextIndex(tx: Transaction): Promise<void> {
  // Only SQLite's columns are to be loaded with SQLite.
  const { sqliteColumns: columns } = await import("../schema/columns.sqlite.ts");
  const command = columns.table("advisory_text_index", { advisoryTextIndex: columns.text() });
  // https://sqlite.org/fts5.html, section 6.10
  const statement = tx.prepared("advisory_text_index.rebuild", (db) =>
    db.insert(command).values({ advisoryTextIndex: "rebuild" }),
  );
  await statement.execute();
}

/** How many pairs of a trigram and a text there are, and a sum over their trigrams: equal sets have equal sums. */
interface Checksum {
  readonly count: number;
  readonly sum: number;
}

async function trigramsOfTexts(session: Session): Promise<Checksum> {
  const statement = session.prepared("advisory_texts.all", (db, { advisoryTexts: texts }) =>
    db
      .select()
      .from(texts)
      .where(gt(texts.uid, textPlaceholder("uid")))
      .orderBy(asc(texts.uid))
      .limit(limitOf(pageSize)),
  );
  let [count, sum] = [0, 0];
  const read = (uid: string) => statement.execute({ uid });
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) {
    for (const { text } of page) {
      const trigrams = trigramsOf(text);
      count += trigrams.size;
      for (const trigram of trigrams) sum = (sum + hashOf(trigram)) | 0;
    }
  }
  return { count, sum };
}

async function trigramsOfIndex(session: Session): Promise<Checksum> {
  const statement = session.prepared("advisory_text_trigrams.all", (db) =>
    db
      .select({ term: sql<string>`term`, texts: sql<number>`doc` })
      .from(sql`advisory_text_trigrams`)
      .where(sql`term > ${textPlaceholder("term")}`)
      .limit(limitOf(pageSize)),
  );
  let [count, sum] = [0, 0];
  const read = (term: string) => statement.execute({ term });
  for await (const page of scanTable(pageSize, "", read, ({ term }) => term)) {
    for (const { term, texts } of page) {
      count += texts;
      sum = (sum + Math.imul(hashOf(term), texts)) | 0;
    }
  }
  return { count, sum };
}

/** Returns the trigrams of a text as FTS5 forms them: by code points, with U+FFFE and U+FFFF as replacement characters. */
function trigramsOf(text: string): Set<string> {
  const characters = [...text.replace(/[\ufffe\uffff]/g, "\ufffd")];
  const trigrams = new Set<string>();
  for (let at = 0; at + 3 <= characters.length; at++) trigrams.add(characters.slice(at, at + 3).join(""));
  return trigrams;
}

/** FNV-1a, over UTF-16 code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
