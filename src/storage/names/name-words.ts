// The table of the words of names: which resources and people of an organization have a word.
import { rootOf } from "../../model/uid.ts";
import { jsonRows, selectRows } from "../engine/json-rows.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, getTableColumns, gte, lt, sql } from "../schema/drizzle.ts";
import { isPersonsWord, personWords } from "../schema/person-words.ts";
import type { Tables } from "../schema/tables.ts";

/** A word of a resource, or of a person in an organization. */
export type NameWord = Tables["nameWords"]["$inferSelect"];

/** Returns the words of a resource as they are stored. */
export function storedWords(kind: string, uid: string, words: readonly string[]): NameWord[] {
  const root = rootOf(uid);
  return words.map((word) => ({ root, word, kind, tail: uid.slice(root.length) }));
}

/** Returns the words of a person in an organization as they are stored. */
export function storedPersonWords(organization: string, uid: string, words: readonly string[]): NameWord[] {
  return words.map((word) => ({ root: organization, word, kind: personWords, tail: uid }));
}

/** Returns the uid of what has a word. */
export function uidOfWord({ root, kind, tail }: Omit<NameWord, "word">): string {
  return kind === personWords ? tail : root + tail;
}

/** Stores words; those that are there already stay. */
export async function insertWords(tx: Transaction, words: readonly NameWord[]): Promise<void> {
  if (words.length === 0) return;
  if (tx.isRemote) {
    const all = tx.prepared("name_words.insert_all", (db, { nameWords }) =>
      db
        .insert(nameWords)
        .select(selectRows(getTableColumns(nameWords)))
        .onConflictDoNothing(),
    );
    await all.execute({ rows: jsonRows(getTableColumns(tx.tables.nameWords), words) });
    return;
  }
  const one = tx.prepared("name_words.insert", (db, { nameWords }) =>
    db
      .insert(nameWords)
      .values({
        root: sql.placeholder("root"),
        word: sql.placeholder("word"),
        kind: sql.placeholder("kind"),
        tail: sql.placeholder("tail"),
      })
      .onConflictDoNothing(),
  );
  for (const word of words) await one.execute({ ...word });
}

/** Deletes words. */
export async function deleteWords(tx: Transaction, words: readonly NameWord[]): Promise<void> {
  if (words.length === 0) return;
  if (tx.isRemote) {
    const all = tx.prepared("name_words.delete_all", (db, { nameWords }) => {
      const { root, kind, word, tail } = nameWords;
      return db
        .delete(nameWords)
        .where(sql`(${root}, ${kind}, ${word}, ${tail}) in (${selectRows(getTableColumns(nameWords))})`);
    });
    await all.execute({ rows: jsonRows(getTableColumns(tx.tables.nameWords), words) });
    return;
  }
  const one = tx.prepared("name_words.delete", (db, { nameWords }) =>
    db
      .delete(nameWords)
      .where(
        and(
          eq(nameWords.root, sql.placeholder("root")),
          eq(nameWords.word, sql.placeholder("word")),
          eq(nameWords.kind, sql.placeholder("kind")),
          eq(nameWords.tail, sql.placeholder("tail")),
        ),
      ),
  );
  for (const word of words) await one.execute({ ...word });
}

/** Deletes the words of people in all organizations. */
export async function deletePersonWords(tx: Transaction, uids: readonly string[]): Promise<void> {
  const statement = tx.prepared("name_words.delete_people", (db, { nameWords }) =>
    db.delete(nameWords).where(and(isPersonsWord(nameWords.kind), tx.isAmong(nameWords.tail, textPlaceholder("uids")))),
  );
  await statement.execute({ uids: JSON.stringify(uids) });
}

/** Returns words of any kind, `limit` at most. */
export async function readFirstWords(session: Session, limit: number): Promise<NameWord[]> {
  const statement = session.prepared("name_words.first", (db, { nameWords }) =>
    db.select().from(nameWords).limit(limitOf("limit")),
  );
  return await statement.execute({ limit });
}

/** Returns what of a kind in an organization has a word that begins with a text, in the order of the words, `limit` at most. */
export async function findWords(
  session: Session,
  { root, kind, beginning }: { readonly root: string; readonly kind: string; readonly beginning: string },
  limit: number,
): Promise<NameWord[]> {
  const statement = session.prepared("name_words.find", (db, { nameWords }) =>
    db
      .select()
      .from(nameWords)
      .where(
        and(
          eq(nameWords.root, textPlaceholder("root")),
          eq(nameWords.kind, textPlaceholder("kind")),
          gte(nameWords.word, textPlaceholder("beginning")),
          lt(nameWords.word, textPlaceholder("end")),
        ),
      )
      .orderBy(asc(nameWords.word), asc(nameWords.tail))
      .limit(limitOf("limit")),
  );
  // The last code point comes after all others in byte order.
  return await statement.execute({ root, kind, beginning, end: `${beginning}\u{10ffff}`, limit });
}
