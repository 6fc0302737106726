// Sentences about changes of the audit log, in English and German.
import { de } from "./sentences/de.ts";
import { en } from "./sentences/en.ts";
import type { SentenceLanguage } from "./sentences/sentence.ts";

export {
  nameOf,
  repetitionsOf,
  type SentenceLanguage,
  type SentencePiece,
  sentencePieces,
  sentenceText,
} from "./sentences/sentence.ts";

/** The languages that have all sentences. */
export const languages: Readonly<Record<"en" | "de", SentenceLanguage>> = {
  en: { language: "en", texts: en },
  de: { language: "de", texts: de },
};
