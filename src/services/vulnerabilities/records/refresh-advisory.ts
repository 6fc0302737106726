// Updates an advisory from its records.
import { isDeepStrictEqual } from "node:util";
import { RecordFormat } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { ConcurrencyConflict, UniqueViolation } from "../../../storage/engine/errors.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import {
  type AdvisoryEventRow,
  findDeletedAdvisory,
  removeDeletedAdvisory,
} from "../../../storage/vulnerabilities/advisories.ts";
import { type AdvisoryRow, underived } from "../../../storage/vulnerabilities/rows.ts";
import {
  type AdvisoryState,
  deleteState,
  findLocked,
  insertState,
  keepWithdrawn,
  replaceState,
} from "../advisories/advisory-state.ts";
import { derivedState, identityColumns, saidOf } from "./derived-state.ts";
import type { LoadedRecord, RecordReader } from "./linked-records.ts";
import { type LocatedAdvisory, rowOfDeleted } from "./located-advisories.ts";

/**
 * Derives an advisory from its linked records again, and writes the differences. `changesStatements` says that its statements differ,
 * which is a change for its followers, also where the advisory itself looks the same.
 */
export async function refreshAdvisory(
  tx: Transaction,
  located: LocatedAdvisory,
  reader: RecordReader,
  changesStatements: boolean,
): Promise<void> {
  const before = located.isLive ? await findLocked(tx, located.uid) : undefined;
  if (located.isLive && !before) throw new ConcurrencyConflict(`advisory ${located.uid} is not there any more`);
  // A new advisory has no linked records except those just written.
  const records = located.row ? await reader.of(located.uid) : reader.added();
  const adopted = { ...located, row: before ? withoutSources(before.row, records) : located.row };
  const state = dueState(adopted, before, records, tx.context.time);
  if (!state) await withdraw(tx, adopted, before, records);
  else if (before) await replaceState(tx, before, state, changesStatements);
  else await revive(tx, located, state);
}

/** Returns the derived state of an advisory; undefined if nothing valid is left. */
export function dueState(
  located: LocatedAdvisory,
  before: AdvisoryState | undefined,
  records: readonly LoadedRecord[],
  now: number,
): AdvisoryState | undefined {
  const kept = before ? keptEvents(before, records) : [];
  const former = before?.events.filter(({ derived }) => derived) ?? [];
  const said = saidOf(
    located,
    records.filter(({ withdrawTime }) => withdrawTime === null),
  );
  if (said.length > 0) return derivedState(located, said, kept, former, now);
  return before && kept.length > 0
    ? { row: { ...adoptedRow(located, records), updateTime: now }, events: kept }
    : undefined;
}

/** Returns the row of an advisory that has other sources than its records. */
function adoptedRow(located: LocatedAdvisory, records: readonly LoadedRecord[]): AdvisoryRow {
  return { ...located.row!, ...identityColumns(located, saidOf(located, records)) };
}

/** Returns the events to keep. Events that an earlier version imported from a source with a linked record are replaced. */
function keptEvents(before: AdvisoryState, records: readonly LoadedRecord[]): AdvisoryEventRow[] {
  const sources = importedSources(before, records);
  return before.events.filter(({ derived, author }) => !derived && !sources.has(author));
}

/**
 * Returns the sources of linked records that an earlier version imported. Nothing was recorded for sources without times: these are
 * recognized by advisories without derived events.
 */
function importedSources({ row, events }: AdvisoryState, records: readonly LoadedRecord[]): Set<string> {
  const noted = new Set(row.sources.map(({ author }) => author));
  const isFirst = records.length === 1 && events.every(({ derived }) => !derived);
  const isImported = ({ record: { source, format } }: LoadedRecord) =>
    noted.has(source) || (isFirst && row.author === source && untimed.has(format));
  return new Set(records.filter(isImported).map(({ record }) => record.source));
}

const untimed: ReadonlySet<RecordFormat> = new Set([RecordFormat.SECDB, RecordFormat.YAML]);

function withoutSources(row: AdvisoryRow, records: readonly LoadedRecord[]): AdvisoryRow {
  if (row.sources.length === 0) return row;
  const linked = new Set(records.map(({ record }) => record.source));
  return { ...row, sources: row.sources.filter(({ author }) => !linked.has(author)) };
}

/** Adds a new, withdrawn or deleted advisory to the lists. */
async function revive(tx: Transaction, { uid, row }: LocatedAdvisory, state: AdvisoryState): Promise<void> {
  if (row) await removeDeletedAdvisory(tx, uid);
  await insertedOnce(() => insertState(tx, state));
}

/** Withdraws an advisory from the lists. It can still be read by its uid, in its last state. */
async function withdraw(
  tx: Transaction,
  located: LocatedAdvisory,
  before: AdvisoryState | undefined,
  records: readonly LoadedRecord[],
): Promise<void> {
  const said = saidOf(located, records);
  const kept = said.length > 0 ? derivedState(located, said, [], before?.events ?? [], tx.context.time) : before;
  if (!kept) return;
  const times = records.map(({ withdrawTime }) => withdrawTime ?? 0);
  const deleteTime = times.length > 0 ? Math.max(...times) : tx.context.time;
  if (before) return await deleteState(tx, before, deleteTime, kept);
  const known = await findDeletedAdvisory(tx, located.uid);
  if (known && isKept(rowOfDeleted(known), known.deleteTime, kept.row, deleteTime)) return;
  if (known) await removeDeletedAdvisory(tx, located.uid);
  await insertedOnce(() => keepWithdrawn(tx, kept, deleteTime));
}

function isKept(known: AdvisoryRow, knownTime: number, row: AdvisoryRow, deleteTime: number): boolean {
  const timeless = ({ updateTime: _, ...row }: AdvisoryRow) => ({ ...row, ...underived });
  return knownTime === deleteTime && isDeepStrictEqual(timeless(known), timeless(row));
}

/** Inserts, and retries the transaction if a concurrent one inserted the advisory first. */
async function insertedOnce(insert: () => Promise<unknown>): Promise<void> {
  try {
    await insert();
  } catch (error) {
    throw error instanceof UniqueViolation
      ? new ConcurrencyConflict("the advisory was added meanwhile", { cause: error })
      : error;
  }
}
