// Makes sentences about changes for people.
import type { Sentence, SentencePart } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { NameState, ResourceKind } from "../../../../gen/gatehouse/search/v1/search_pb.ts";
import type { en } from "./en.ts";
import { piecesOf } from "./format.ts";

/** The texts of a language. */
export interface SentenceLanguage {
  readonly language: string;
  readonly texts: Readonly<Record<keyof typeof en, string>>;
}

/** A piece of a sentence: a literal text, or what it names, with the words for it. */
export type SentencePiece = string | { readonly part: SentencePart; readonly text: string };

/** How many changes a sentence stands for. */
export interface SentenceCount {
  readonly count: number;
  /** How many things it does not name. */
  readonly more: number;
}

/** Returns the number of times that the entry of a sentence stands for: repetitions of sign-ins and denials are one entry. */
export function repetitionsOf({ parts }: Sentence): number {
  return Math.max(1, Number(parts.count?.name ?? 1));
}

/** Returns a sentence in pieces. Sentences of later servers have the text for unknown ones. */
export function sentencePieces(
  { key, parts }: Sentence,
  { language, texts }: SentenceLanguage,
  numbers: SentenceCount = { count: repetitionsOf({ key, parts } as Sentence), more: 0 },
): readonly SentencePiece[] {
  const text = Object.hasOwn(texts, key) ? texts[key as keyof typeof en] : texts["other.updated"];
  return piecesOf(text, { ...numbers }, language).map((piece) => {
    if (typeof piece === "string") return piece;
    const part = parts[piece.name];
    return part ? { part, text: nameOf(part, texts) } : key;
  });
}

/** Returns a sentence as text. */
export function sentenceText(sentence: Sentence, language: SentenceLanguage): string {
  return sentencePieces(sentence, language)
    .map((piece) => (typeof piece === "string" ? piece : piece.text))
    .join("");
}

/** Returns the words for what a sentence names. */
export function nameOf({ uid, kind, name, state }: SentencePart, texts: SentenceLanguage["texts"]): string {
  const isWorkload = kind === ResourceKind.IDENTITY;
  if (state === NameState.DELETED && kind === ResourceKind.PERSON) return texts["name.formerMember"];
  if (state === NameState.DELETED && name === "") return texts[isWorkload ? "name.deletedWorkload" : "name.deleted"];
  if (state === NameState.DELETED)
    return texts[isWorkload ? "name.deletedWorkloadAs" : "name.deletedAs"].replace("{name}", () => name);
  if (name !== "") return name;
  if (state === NameState.NOT_JOINED)
    return texts["name.notJoined"].replace("{uid}", `${uid.slice(0, 4)}…${uid.slice(-4)}`);
  if (uid === "") return texts["name.server"];
  return texts["name.hidden"];
}
