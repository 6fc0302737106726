// The input of each format's writer: advisories with the records that they are derived from.
import type { AdvisoryStatements } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";

/** Options that apply to a whole export. */
export interface WriteOptions {
  /** The uid of the exported group. Ids of documents are derived from it, and stay the same from one export to the next. */
  readonly id: string;
  /** The publisher of the export, if the format requires one. */
  readonly author: string;
  /** The ecosystem of OSV, such as "Wolfi" or "Alpine:v3.22", for packages without one. */
  readonly ecosystem: string;
  /** The time of the export, in milliseconds since the epoch: the latest change of its content. */
  readonly time: number;
  /** Called for each advisory that is kept in memory although the format is written one by one; may throw. */
  readonly onKept?: () => void;
}

/** Counts data that the format of an export has no place for. */
export interface Losses {
  /** `what` is the kind, such as "a severity per product"; `where` is one example, such as the id of the advisory. */
  add(what: string, where: string): void;
}

/**
 * Writes a document from advisories in the order of their public ids. It yields the text in parts, and holds no more of the
 * advisories in memory than the format requires. The advisories can be read several times, each time from the beginning.
 */
export type Writer = (
  advisories: AsyncIterable<AdvisoryStatements>,
  options: WriteOptions,
  losses: Losses,
) => AsyncGenerator<string>;
