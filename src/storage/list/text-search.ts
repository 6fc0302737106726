import type { Session } from "../engine/session.ts";
import type { RangeSource } from "./source.ts";

/** The texts to search, and the term. */
export interface TextQuery {
  /** The search term in lower case; not empty. */
  readonly term: string;
  /** The source whose texts are searched. */
  readonly source: RangeSource & { readonly uid: string };
  /** How many texts the source has. */
  readonly size: number;
  /** How many the whole organization has. */
  readonly organizationSize: number;
}

/** The result of a search. */
export interface FoundTexts {
  readonly count: number;
  /** The uids in ascending order, where there are at most as many as were asked for. */
  readonly uids?: readonly string[];
}

/** Searches texts on the snapshot of a session. */
export interface TextSearch {
  /** Counts the texts that contain a term, and names them where there are at most `maxUids`. */
  find(session: Session, query: TextQuery, maxUids: number): Promise<FoundTexts>;
}
