// What reads the documents of one format.
import type { Found } from "./record.ts";

/** The advisories that one part of a document holds. */
export type Parsed = readonly Found[];

/** One part of a document: a part that is wrong is left out, and the others are read. */
export interface Part {
  /** What the part is called, for whoever reads what went wrong; empty when it has no name. */
  readonly name: string;
  /** Throws BadDocument when something is wrong with the part. */
  read(): Parsed;
}

/** What is said of all documents of an import. */
export interface ReadOptions {
  /** Who wrote the advisories, in place of what the documents say. */
  readonly author: string;
}

/** Reads the parts of a document one by one. Throws BadDocument when nothing can be read of it. */
export type Reader = (document: unknown, options: ReadOptions) => Generator<Part>;
