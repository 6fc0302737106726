import type { Session } from "../engine/session.ts";
import type { TextQuery } from "../list/text-search.ts";
import type { RareParts } from "./term-parts.ts";

/** A query, with what a sample of its texts says of the term. */
export interface IndexQuery extends TextQuery, RareParts {}

/** How one of the databases finds texts. Both find exactly the texts that contain the term, wherever they look. */
export interface TextIndex {
  /** The uids of some texts that contain the term: of all, unless there are more than `maxUids`. */
  find(session: Session, query: IndexQuery, maxUids: number): Promise<string[]>;
  /** How many texts contain the term. */
  count(session: Session, query: IndexQuery): Promise<number>;
}
