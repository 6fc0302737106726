import type { Session } from "../engine/session.ts";
import type { TextQuery } from "../list/text-search.ts";
import type { TermParts } from "./term-parts.ts";

/** A query, with the parts of its term to ask an index for. */
export interface IndexQuery extends TextQuery, TermParts {}

/** The text search of one database. Every implementation finds exactly the texts that contain the term. */
export interface TextIndex {
  /** Returns the uids of some texts that contain the term: of all, unless there are more than `maxUids`. */
  find(session: Session, query: IndexQuery, maxUids: number): Promise<string[]>;
  /** Returns the number of texts that contain the term. */
  count(session: Session, query: IndexQuery): Promise<number>;
}
