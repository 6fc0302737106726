// The result of each format's reader: the records of a document, and the problems found.
import type { AdvisoryRecord } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";

/** Something that a reader left out of a record, or the reason why it left out the whole record. */
export interface Problem {
  /** The path from the record down: `affected[0].ranges[1].events`; empty for the record itself. */
  readonly path: string;
  /** The rule that it breaks, as a part of a sentence: `must be a text`. */
  readonly rule: string;
  /** Whether nothing was left out: it is kept in another form, which the rule names. */
  readonly isRepaired?: boolean;
}

/** One record of a document. Every record of a document is one of these, whether it can be read or not. */
export interface ReadItem {
  /** The name of the record in reports; empty if it has none. */
  readonly name: string;
  /** Undefined when the record is left out; the last of the problems says why. */
  readonly record: AdvisoryRecord | undefined;
  readonly problems: readonly Problem[];
}

/** A document of several records, which is complete once all of them are imported. */
export interface CompleteDocument {
  readonly source: string;
  readonly document: string;
  /** Milliseconds since the epoch. */
  readonly modifyTime: number;
  /** 0 when the source does not number the versions of the document. */
  readonly revision: number;
}

/** A document that is being read. */
export interface ReadDocument {
  /** The records, one by one: a large document is never in memory twice. */
  readonly items: Iterable<ReadItem>;
  /** The version of the document, where the source tells its versions apart and a document has several records. */
  readonly completes?: CompleteDocument;
}

/** Options that apply to all documents of an import. */
export interface ReadOptions {
  /** The name of the source, which replaces the author of the document. Empty keeps the author. */
  readonly source: string;
}

/** Reads a parsed document of one format. Throws BadDocument when nothing of it can be read. */
export type Reader = (document: unknown, options: ReadOptions) => ReadDocument;
