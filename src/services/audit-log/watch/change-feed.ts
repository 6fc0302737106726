// The latest changes of one organization, which its streams read.
import type { ApiError } from "../../../aip/errors.ts";
import type { LogPosition } from "../../../storage/change-log/history.ts";
import type { ChangeFilter, Head } from "../change-filter.ts";
import { watchLimits } from "./limits.ts";
import type { WatchedChange } from "./watched-change.ts";

/** Changes for one stream. */
export interface WatchedBatch {
  readonly found: readonly WatchedChange[];
  /** The position behind everything that was looked at. */
  readonly to: LogPosition;
  /** Whether more changes are there. */
  readonly hasMore: boolean;
  /** An access epoch that was read after the changes. */
  readonly epoch: number;
}

/** The state of a reader that all its streams see. */
export interface ReaderState {
  /** The position up to which the log was read; undefined before the first look. */
  readonly head: LogPosition | undefined;
  /** The access epoch, read after the last changes. */
  readonly epoch: number;
}

/** The latest changes of an organization that one of its streams asks for. */
export class ChangeFeed {
  readonly watchers = new Set<Watcher>();
  /** All changes after this sequence number are in `changes`, as far as a stream asks for them. */
  from = 0;
  readonly #changes: WatchedChange[] = [];

  /** Whether a stream asks for a change, as far as its head shows. */
  isWanted(head: Head): boolean {
    for (const { heads } of this.watchers) if (heads.matches(head)) return true;
    return false;
  }

  add(change: WatchedChange): void {
    this.#changes.push(change);
  }

  /** Removes the oldest change. */
  removeOldest(): void {
    this.from = this.#changes.shift()?.head.sequence ?? this.from;
  }

  /** Removes all changes. From a sequence number on, changes are added again. */
  clear(from: number): void {
    this.#changes.length = 0;
    this.from = from;
  }

  /** Returns the changes behind a position that match a filter, as many as fit into a response. */
  take(position: LogPosition, filter: ChangeFilter, { head, epoch }: ReaderState): WatchedBatch {
    const found: WatchedChange[] = [];
    let length = 0;
    for (let i = this.#indexAfter(position.sequence); i < this.#changes.length; i++) {
      const change = this.#changes[i]!;
      if (!filter.matches(change.head)) continue;
      length += change.length;
      if (found.length > 0 && length > watchLimits.lengthOfResponse) return cut(found, epoch);
      found.push(change);
      if (found.length === watchLimits.changesPerResponse) return cut(found, epoch);
    }
    const to = head && head.sequence > position.sequence ? head : position;
    return { found, to, hasMore: false, epoch };
  }

  /** Most streams are near the end. */
  #indexAfter(sequence: number): number {
    let index = this.#changes.length;
    while (index > 0 && this.#changes[index - 1]!.head.sequence > sequence) index--;
    return index;
  }
}

function cut(found: readonly WatchedChange[], epoch: number): WatchedBatch {
  return { found, to: found.at(-1)!.head, hasMore: true, epoch };
}

/** One stream, as the reader knows it. */
export class Watcher {
  /** Decides by their heads which changes are read for it. */
  readonly heads: ChangeFilter;
  /** From here on, the feed has what the stream asks for; undefined until the next look. */
  from: number | undefined;
  /** When something was sent last, by `performance.now()`. */
  sentAt = performance.now();
  /** The reason why the stream ends; undefined while it goes on. */
  ending: ApiError | undefined;
  /** Whether the stream must send something, or check its token. */
  isDue = false;
  readonly expiresAt: number;
  readonly isConnectionClosing: () => boolean;
  #isAwake = false;
  #wake: (() => void) | undefined;

  constructor(heads: ChangeFilter, expiresAt: number, isConnectionClosing: () => boolean = () => false) {
    this.heads = heads;
    this.expiresAt = expiresAt;
    this.isConnectionClosing = isConnectionClosing;
  }

  /** Resolves when there may be something to do for the stream. */
  async woken(): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isAwake = false;
  }

  wake(): void {
    this.#isAwake = true;
    this.#wake?.();
    this.#wake = undefined;
  }

  end(reason: ApiError): void {
    this.ending ??= reason;
    this.wake();
  }
}
