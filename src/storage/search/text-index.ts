import type { Session } from "../engine/session.ts";
import type { TextQuery } from "../list/text-search.ts";
import type { TermParts } from "./term-parts.ts";

/** A query, with the parts of its term to ask an index for. */
export interface IndexQuery extends TextQuery, TermParts {}

/** How one of the databases finds texts. Both find exactly the texts that contain the term, wherever they look. */
export interface TextIndex {
  /** The uids of some texts that contain the term: of all, unless there are more than `maxUids`. */
  find(session: Session, query: IndexQuery, maxUids: number): Promise<string[]>;
  /** How many texts contain the term. */
  count(session: Session, query: IndexQuery): Promise<number>;
}
