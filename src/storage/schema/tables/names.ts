import type { Columns } from "../columns.postgres.ts";
import { isPersonsWord } from "../person-words.ts";

/** The words of names, which the search reads. They follow the change log: see storage/names/word-index.ts. */
export function defineNameTables({ table, text, index, primaryKey }: Columns) {
  return {
    nameWords: table(
      "name_words",
      {
        /** The uid of the organization. */
        root: text().notNull(),
        kind: text().notNull(),
        word: text().notNull(),
        /** The rest of the uid after that of the organization; the whole uid of a person. */
        tail: text().notNull(),
      },
      (t) => [
        primaryKey({ columns: [t.root, t.kind, t.word, t.tail] }),
        index("name_words_person").on(t.tail).where(isPersonsWord(t.kind)),
      ],
    ),
  };
}
