// Texts that are searched again and again stay in memory and follow the change log, so that a search reads nothing.
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { LRUCache } from "lru-cache";
import { rangeBelow } from "../../model/uid.ts";
import { latestOfKind, readChangesOfKind } from "../change-log/change-log.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { keysOf } from "../collection/entries.ts";
import { readCounter } from "../engine/counters.ts";
import { atMost } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { pagesOf } from "../engine/table-scan.ts";
import { keyOf, type RangeSource } from "../list/range.ts";
import { and, asc, eq, gt, lt, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { buildTextIndex, type FoundTexts, type TextIndex } from "./trigram-index.ts";
import type { TextOf } from "./trigrams.ts";

/** A text that is looked for, and where. */
export interface SearchedText {
  readonly wanted: string;
  /** The text of every row of the collection. */
  readonly table: (tables: Tables) => PgTable & { readonly uid: PgColumn; readonly text: PgColumn };
  /** The text that belongs to a row. */
  readonly of: (row: ResourceRow) => string;
}

/** Sizes of what is kept and done. */
export interface TextLimits {
  /** Ranges of so many rows at most are read as fast as they are found in memory. */
  readonly few: number;
  /** Ranges of more rows are always read: to keep them would take too much memory. */
  readonly rows: number;
  /** Bytes of all that is kept, about. */
  readonly bytes: number;
  /** How often the texts of a range are read before they are kept: to index them costs as much as some dozen readings. */
  readonly readings: number;
  /** Changes that are followed at once, and texts that may have changed before a range is indexed anew. */
  readonly changes: number;
}

const defaultLimits: TextLimits = { few: 1000, rows: 200_000, bytes: 64 * 2 ** 20, readings: 10, changes: 2000 };

/** Texts that are read at once when a range is indexed. */
const pageSize = 1000;

/** The ranges whose readings are counted. */
const countedRanges = 1000;

/** The texts of one range. */
interface Kept {
  readonly index: TextIndex;
  /** The last change that was followed. */
  sequence: number;
}

/** Reads on one snapshot. */
type Read = <T>(body: (session: Session) => Promise<T>) => Promise<T>;

/** Finds texts in memory. */
export interface TextMemory {
  /**
   * The rows of a range whose texts contain what is wanted, as of `latest`, the last change of the collection in the
   * snapshot of the session. Undefined where the texts have to be read from the database; if that comes to pass often,
   * they will be in memory later.
   */
  find<R extends ResourceRow>(
    session: Session,
    collection: Collection<R>,
    source: RangeSource,
    searched: SearchedText,
    latest: number,
    maxUids: number,
  ): Promise<FoundTexts | undefined>;
  /** Resolves when nothing is being indexed. */
  idle(): Promise<void>;
  /** Stops what is being indexed. */
  close(): Promise<void>;
}

/** Makes one that has no texts yet. */
export function newTextMemory(read: Read, limits: TextLimits = defaultLimits): TextMemory {
  const kept = new LRUCache<string, Kept>({
    maxSize: limits.bytes,
    sizeCalculation: ({ index }) => index.bytes,
  });
  const readings = new LRUCache<string, number>({ max: countedRanges });
  // One at a time: what is being indexed does not count as kept yet.
  let building: Promise<void> | undefined;
  const stop = new AbortController();

  /** Counts a reading. What fails here fails nobody: the texts are read once more, and then tried again. */
  async function noteReading<R extends ResourceRow>(
    session: Session,
    collection: Collection<R>,
    source: RangeSource,
    searched: SearchedText,
    key: string,
  ): Promise<void> {
    const before = readings.get(key) ?? 0;
    readings.set(key, before + 1);
    if (before < limits.readings || building) return;
    const rows = await readCounter(session, keyOf(source), collection.kind);
    if (rows <= limits.few || rows > limits.rows || building || stop.signal.aborted) return;
    building = keep(read, collection, source, searched, stop.signal)
      .then((built) => {
        kept.set(key, built);
        if (kept.has(key)) readings.delete(key);
        // It is larger than all that may be kept: to index it again and again would cost more than it could ever save.
        else readings.set(key, Number.NEGATIVE_INFINITY);
      })
      .catch(() => {})
      .finally(() => {
        building = undefined;
      });
  }

  const idle = async () => await building;
  return {
    async find(session, collection, source, searched, latest, maxUids) {
      // Rows without a parent are no range of uids; a text of several lines may begin in one and end in another.
      if (source.uid === null || searched.wanted.includes("\n")) return undefined;
      const key = `${collection.kind} ${keyOf(source)}`;
      const known = kept.get(key);
      if (known && (await follow(session, collection, source, searched, known, latest, limits.changes)))
        return known.index.find(searched.wanted.toWellFormed(), maxUids);
      if (known && isOutdated(known, latest, limits.changes)) kept.delete(key);
      await noteReading(session, collection, source, searched, key);
      return undefined;
    },
    idle,
    async close() {
      stop.abort();
      await idle();
    },
  };
}

/** Brings texts up to the snapshot of the session; false when they are ahead of it or have changed too much. */
async function follow<R extends ResourceRow>(
  session: Session,
  { kind }: Collection<R>,
  source: RangeSource,
  { of }: SearchedText,
  known: Kept,
  latest: number,
  most: number,
): Promise<boolean> {
  if (known.sequence < latest) {
    const changes = await readChangesOfKind(session, kind, known.sequence, most + 1);
    if (!changes || changes.length > most) return false;
    for (const { sequence, uid, after } of changes) {
      // Another search may have followed it while this one waited for the database.
      if (sequence <= known.sequence) continue;
      const row = after as ResourceRow | null;
      if (!row) known.index.set(uid, undefined);
      else if (keysOf(row).includes(keyOf(source))) known.index.set(uid, of(row).toWellFormed());
      known.sequence = sequence;
    }
  }
  return known.sequence === latest && known.index.changed <= most;
}

function isOutdated({ index, sequence }: Kept, latest: number, most: number): boolean {
  return sequence < latest || index.changed > most;
}

/**
 * Reads and indexes the texts of a range, each page on a snapshot of its own.
 *
 * What changed after the first page is followed afterwards, for all pages. A later page may know of such a change already: that
 * does no harm, since changes say what a text became.
 */
async function keep<R extends ResourceRow>(
  read: Read,
  collection: Collection<R>,
  source: RangeSource,
  searched: SearchedText,
  signal: AbortSignal,
): Promise<Kept> {
  const texts: TextOf[] = [];
  let sequence: number | undefined;
  const readPage = (after: string) => {
    signal.throwIfAborted();
    return read(async (session) => {
      sequence ??= await latestOfKind(session, collection.kind);
      return await readTexts(session, collection, source, searched, after);
    });
  };
  for await (const page of pagesOf(pageSize, "", readPage, ({ uid }) => uid)) {
    texts.push(...page);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { index: await buildTextIndex(texts, signal), sequence: sequence! };
}

async function readTexts<R extends ResourceRow>(
  session: Session,
  collection: Collection<R>,
  source: RangeSource,
  { table }: SearchedText,
  after: string,
): Promise<TextOf[]> {
  const statement = session.prepared(`${collection.kind}.texts.${source.type}`, (db, tables) => {
    const [texts, rows] = [table(tables), collection.rows(tables)];
    const select = db.select({ uid: texts.uid, text: texts.text }).from(texts);
    const place =
      source.type === "subtree" ? lt(texts.uid, sql.placeholder("to")) : eq(rows.parent, sql.placeholder("parent"));
    return (source.type === "subtree" ? select : select.innerJoin(rows, eq(rows.uid, texts.uid)))
      .where(and(place, gt(texts.uid, sql.placeholder("after"))))
      .orderBy(asc(texts.uid))
      .limit(atMost(pageSize));
  });
  const { from, to } = rangeBelow(source.uid!);
  const found = await statement.execute({ parent: source.uid, to, after: after === "" ? from : after });
  return found as TextOf[];
}
