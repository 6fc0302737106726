// Reads the change log once for all streams of a process, and only while there are streams.
import { setImmediate } from "node:timers/promises";
import { streamEnded } from "../../../aip/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import { rootOf } from "../../../model/uid.ts";
import { endOfLog, findChanges, type LogPosition, readHistoryFrom } from "../../../storage/change-log/history.ts";
import { hasAllAfter } from "../../../storage/change-log/removal.ts";
import type { Database } from "../../../storage/database.ts";
import { type ChangeCursors, changeCursors } from "../change-cursors.ts";
import { ChangeFeed, type ReaderState, type Watcher } from "./change-feed.ts";
import { watchLimits } from "./limits.ts";
import { toWatchedChange, type WatchedChange } from "./watched-change.ts";

/** The dependencies of a reader. */
export interface ChangeReaderOptions {
  readonly database: Pick<Database, "session" | "accessEpoch">;
  readonly clock: Clock;
  readonly pageTokenKey: Uint8Array;
  /** Aborted when the server begins to drain: all streams end. */
  readonly draining: AbortSignal;
  /** Calls the listener after each commit of this process that logged a change. */
  onCommit(listener: () => void): void;
  /** Called with the first of several failed looks in a row. */
  logFailure(error: unknown): void;
}

/** The reader of a process. Disposing it ends all streams, and waits until it no longer uses the database. */
export interface ChangeReader extends AsyncDisposable {
  readonly state: ReaderState;
  /** Adds a stream of an organization until it is disposed of, and returns its feed. */
  watch(organization: string, watcher: Watcher): { readonly feed: ChangeFeed } & Disposable;
}

/** Makes a reader, which begins with the first stream. */
export function newChangeReader(options: ChangeReaderOptions): ChangeReader {
  const reader = new LogReader(options);
  options.onCommit(() => reader.hasCommitted());
  options.draining.addEventListener("abort", () => reader.end("the server stops"), { once: true });
  return reader;
}

class LogReader implements ChangeReader {
  readonly #options: ChangeReaderOptions;
  readonly #feeds = new Map<string, ChangeFeed>();
  readonly #state: { head: LogPosition | undefined; epoch: number } = { head: undefined, epoch: 0 };
  /** The feeds of all kept changes, in the order of the log, with the lengths of the changes. */
  #kept: { readonly feed: ChangeFeed; readonly length: number }[] = [];
  #keptLength = 0;
  #dataVersion: number | undefined;
  readonly #cursors: ChangeCursors;
  #running: Promise<void> | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #resume: (() => void) | undefined;
  #isCommitAnnounced = false;
  #isFailing = false;
  #isEnding = false;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
    this.#cursors = changeCursors(() => options.pageTokenKey);
  }

  get state(): ReaderState {
    return this.#state;
  }

  watch(organization: string, watcher: Watcher): { readonly feed: ChangeFeed } & Disposable {
    const feed = this.#feeds.get(organization) ?? new ChangeFeed();
    this.#feeds.set(organization, feed);
    feed.watchers.add(watcher);
    if (this.#isEnding) watcher.end(streamEnded("the server stops; call again with the last `resume_after`"));
    this.#ticker ??= setInterval(() => this.#tick(), watchLimits.tickMs).unref();
    this.#running ??= this.#run();
    this.hasCommitted();
    return {
      feed,
      [Symbol.dispose]: () => {
        feed.watchers.delete(watcher);
        if (feed.watchers.size === 0) this.#feeds.delete(organization);
        if (this.#feeds.size === 0) this.#resume?.();
      },
    };
  }

  /** Looks soon. */
  hasCommitted(): void {
    if (this.#isCommitAnnounced || !this.#running) return;
    this.#isCommitAnnounced = true;
    setTimeout(() => {
      this.#isCommitAnnounced = false;
      this.#resume?.();
    }, watchLimits.pauseMs).unref();
  }

  end(reason: string): void {
    this.#isEnding = true;
    this.#endAll(reason);
    this.#resume?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end("the server stops");
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#feeds.size > 0 && !this.#isEnding) {
      try {
        await this.#look();
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing && !this.#isEnding) this.#options.logFailure(error);
        this.#isFailing = true;
      }
      await this.#pause();
    }
    this.#state.head = undefined;
    this.#dataVersion = undefined;
    this.#kept = [];
    this.#keptLength = 0;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#running = undefined;
  }

  async #pause(): Promise<void> {
    const { lookMs } = watchLimits;
    if (this.#feeds.size === 0 || this.#isEnding) return;
    const ms = this.#options.database.session.isRemote ? lookMs.remote : lookMs.local;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#resume = undefined;
  }

  async #look(): Promise<void> {
    const { session, accessEpoch } = this.#options.database;
    const version = await session.dataVersion?.();
    const { head } = this.#state;
    if (!head) {
      const end = await endOfLog(session);
      this.#state.epoch = await accessEpoch.latest();
      this.#state.head = end;
    } else if (version === undefined || version !== this.#dataVersion) await this.#readOn(head);
    this.#dataVersion = version;
    this.#admit();
  }

  /** Streams that came while the log was read are served from its end: what was read before was not read for them. */
  #admit(): void {
    const from = this.#state.head!.sequence;
    for (const { watchers } of this.#feeds.values())
      for (const watcher of watchers) {
        if (watcher.from !== undefined) continue;
        watcher.from = from;
        watcher.wake();
      }
  }

  async #readOn(from: LogPosition): Promise<void> {
    const { session, accessEpoch } = this.#options.database;
    const { entriesPerLook } = watchLimits;
    for (let head = from; ; ) {
      const read = await readHistoryFrom(session, head.sequence, entriesPerLook + 1);
      const isSame = read[0]?.sequence === head.sequence && read[0].time === head.time;
      if (!isSame && !(await hasAllAfter(session, head))) return await this.#restart();
      const entries = read.filter(({ sequence }) => sequence > head.sequence);
      const last = entries.at(-1);
      if (!last) return;
      const changes = await this.#readRows(entries.map((entry) => ({ ...entry, name: "", outcome: "" })));
      // Read after the changes: what was revoked before one of them is revoked at this epoch.
      const epoch = await accessEpoch.latest();
      this.#publish(changes, new Set(entries.map(({ groupUid }) => rootOf(groupUid))), last, epoch);
      if (read.length <= entriesPerLook || this.#isEnding) return;
      head = last;
      await setImmediate();
    }
  }

  /** Reads the rows of the changes that some stream asks for. */
  async #readRows(heads: readonly Parameters<ChangeFeed["isWanted"]>[0][]): Promise<WatchedChange[]> {
    const wanted = heads.filter((head) => this.#feeds.get(rootOf(head.groupUid))?.isWanted(head));
    const changes: WatchedChange[] = [];
    for (let i = 0; i < wanted.length; i += watchLimits.rowsAtOnce) {
      if (i > 0) await setImmediate();
      const sequences = wanted.slice(i, i + watchLimits.rowsAtOnce).map(({ sequence }) => sequence);
      const rows = await findChanges(this.#options.database.session, sequences);
      changes.push(...rows.map((row) => toWatchedChange(row, this.#cursors)));
    }
    return changes;
  }

  #publish(changes: readonly WatchedChange[], changed: ReadonlySet<string>, head: LogPosition, epoch: number): void {
    for (const change of changes) {
      const feed = this.#feeds.get(rootOf(change.head.groupUid));
      if (!feed) continue;
      feed.add(change);
      this.#kept.push({ feed, length: change.length });
      this.#keptLength += change.length;
    }
    this.#state.head = { sequence: head.sequence, time: head.time };
    this.#state.epoch = epoch;
    let removed = 0;
    for (; this.#keptLength > watchLimits.keptLength && removed < this.#kept.length; removed++) {
      const { feed, length } = this.#kept[removed]!;
      feed.removeOldest();
      this.#keptLength -= length;
    }
    if (removed > 0) this.#kept.splice(0, removed);
    for (const organization of changed)
      for (const watcher of this.#feeds.get(organization)?.watchers ?? []) watcher.wake();
  }

  /** The database lacks the last changes that were read: it was restored, or another server took over without them. */
  async #restart(): Promise<void> {
    this.#endAll("the database has another history");
    const head = await endOfLog(this.#options.database.session);
    // A stream that came meanwhile must not get changes that were lost.
    for (const feed of this.#feeds.values()) feed.clear(head.sequence);
    this.#kept = [];
    this.#keptLength = 0;
    this.#state.head = head;
  }

  #endAll(reason: string): void {
    for (const { watchers } of this.#feeds.values())
      for (const watcher of watchers) watcher.end(streamEnded(`${reason}; call again with the last \`resume_after\``));
  }

  #tick(): void {
    const [now, time] = [performance.now(), this.#options.clock()];
    for (const { watchers } of this.#feeds.values())
      for (const watcher of watchers) {
        if (watcher.isConnectionClosing())
          watcher.end(streamEnded("the connection closes; call again with the last `resume_after`"));
        if (now - watcher.sentAt < watchLimits.heartbeatMs && time < watcher.expiresAt) continue;
        watcher.isDue = true;
        watcher.wake();
      }
  }
}
