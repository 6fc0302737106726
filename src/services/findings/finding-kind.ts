// The interface of a kind of findings.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { FindingKind, FindingSchema } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Session } from "../../storage/engine/session.ts";
import { countScanned, type Scan, type ScanPage, scanRanges, scanRows } from "../../storage/list/scan.ts";

/** The maximum number of resources that one call scans for each kind. */
export const maxScanned = 100_000;

/** A finding without its kind and the name of its group. */
export type FindingParts = Omit<MessageInitShape<typeof FindingSchema>, "$typeName"> & {
  readonly resourceUid: string;
  readonly groupUid: string;
};

/** A kind of finding, and who may see it. */
export interface FindingSource {
  readonly kind: FindingKind;
  /** A caller with this capability at a resource may list the resource. */
  readonly capability: Capability;
  /** Starts a scan of these subtrees, which are in byte order. */
  startScan(session: Session, subtrees: readonly string[], now: number, call: Call): Promise<FindingScan>;
}

/** The findings of one kind, each identified by a cursor. */
export interface FindingScan {
  /** Whether everything is scanned, not only a part. */
  readonly isWhole: boolean;
  /** Counts the findings after a cursor; all of them for an empty one. */
  count(after: string): MaybePromise<number>;
  /** Returns the cursors of a page, in order. */
  find(page: ScanPage): MaybePromise<readonly string[]>;
  /** Shows the findings with these cursors. Those that are gone are missing. */
  show(cursors: readonly string[], call: Call): Promise<readonly FindingParts[]>;
}

/** Findings that were found one by one. */
export interface FoundOneByOne<T> {
  /** In the order of their cursors. */
  readonly found: readonly T[];
  /** Whether everything was looked at, not only a part. */
  readonly isWhole: boolean;
  cursorOf(one: T): string;
  show(some: readonly T[], call: Call): Promise<readonly FindingParts[]>;
}

/** Returns the scan of findings that were found one by one. */
export function scanOfFound<T>({ found, isWhole, cursorOf, show }: FoundOneByOne<T>): FindingScan {
  const after = (cursor: string) => found.filter((one) => cursorOf(one) > cursor);
  return {
    isWhole,
    count: (cursor) => after(cursor).length,
    find: ({ after: cursor, skip, limit }) =>
      after(cursor)
        .slice(skip, skip + limit)
        .map(cursorOf),
    show(cursors, call) {
      const shown = new Set(cursors);
      return show(
        found.filter((one) => shown.has(cursorOf(one))),
        call,
      );
    },
  };
}

/** The scan of a kind of which there is nothing. */
export const nothingToScan: FindingScan = {
  isWhole: true,
  count: () => 0,
  find: () => [],
  show: async () => [],
};

/** Returns a function that starts a scan of rows, `limit` at most, whose uids are the cursors. */
export function scanOfRows(
  scanAt: (now: number) => Scan,
  show: (session: Session, uids: readonly string[], call: Call) => Promise<readonly FindingParts[]>,
  limit = maxScanned,
): FindingSource["startScan"] {
  return async (session, subtrees, now) => {
    const scan = scanAt(now);
    const { ranges, isWhole } = await scanRanges(session, scan, subtrees, limit);
    return {
      isWhole,
      count: (after) => countScanned(session, scan, ranges, after),
      find: (page) => scanRows(session, scan, ranges, page),
      async show(uids, call) {
        const shown = await show(session, uids, call);
        return shown.toSorted((a, b) => compareTexts(a.resourceUid, b.resourceUid));
      },
    };
  };
}
