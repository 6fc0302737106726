// Several versions of one document within an import. The server deletes the records that only the earlier ones have. That is right for
// a history of a document; but two files of one id may as well be two documents, so each of these records is named.
import { RecordOutcome } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { CompleteDocument } from "../../../advisories/reading.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { type Copy, compare, documentKeyOf, type Version } from "./copies.ts";

/** A document that was completed, in the latest version of the import. */
interface Completed {
  readonly file: string;
  readonly version: Version;
}

/** The documents that an import has completed. */
export interface DocumentVersions {
  complete(version: CompleteDocument, file: string): void;
  has(source: string, document: string): boolean;
  /** Returns the copies that the completion of a later version has deleted or kept out, and why each of them is left out. */
  lost(copies: Iterable<Copy>): [copy: Copy, reason: string][];
}

/** Returns a register of completed documents. */
export function newDocumentVersions(now = Date.now): DocumentVersions {
  const latest = new Map<string, Completed>();
  const all = new Set<string>();

  // The server takes a time in the future for the oldest: such a version completes nothing.
  const isFuture = ([seconds]: Version) => seconds * 1000n > BigInt(now());

  function winnerOver({ document, modified, isWithdrawn, result }: Copy): Completed | undefined {
    if (isWithdrawn || !result || result.outcome === RecordOutcome.LEFT_OUT) return undefined;
    const winner = latest.get(document);
    if (!winner) return undefined;
    return !modified || isFuture(modified) || compare(modified, winner.version) < 0 ? winner : undefined;
  }

  return {
    complete({ source, document, modifyTime, revision }, file) {
      const key = documentKeyOf(source, document);
      const { seconds, nanos } = toTimestamp(modifyTime);
      const version: Version = [seconds, nanos, BigInt(revision)];
      const known = latest.get(key);
      all.add(key);
      if (isFuture(version) || (known && compare(version, known.version) <= 0)) return;
      latest.set(key, { file, version });
    },
    has: (source, document) => all.has(documentKeyOf(source, document)),
    lost: (copies) =>
      [...copies].flatMap((copy) => {
        const winner = winnerOver(copy);
        return winner ? [[copy, lossReason(winner)]] : [];
      }),
  };
}

function lossReason({ file }: Completed): string {
  return `is not in ${file}, a later version of the same document; import one of them with another --author to keep both`;
}
