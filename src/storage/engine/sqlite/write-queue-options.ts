import type { BatchLimits } from "./write-batch.ts";

/** Limits and hooks of the queue. */
export interface WriteQueueOptions extends BatchLimits, WriteQueueHooks {
  /** How many writes may wait; one more is rejected. */
  readonly maxWaiting: number;
  /** How long another process may hold the write lock, in milliseconds. */
  readonly lockTimeoutMs: number;
}

/** The callbacks of the write queue around its batches. */
export interface WriteQueueHooks {
  /** Returns a promise that the next batch must await, or undefined. If it rejects, all waiting writes fail. */
  readonly waitForRoom?: () => Promise<void> | undefined;
  /** Returns how many event-loop ticks had reads. */
  readonly readTicks?: () => number;
  /** Called if a write finds the disk full. */
  readonly afterFull?: () => void;
  /** Called if a flush fails. */
  readonly afterFailedFlush?: () => void;
  /** Called when a batch begins, also when it is run again. */
  readonly begin?: () => void;
  /** Called after the writes of a batch, to write what they deferred. */
  readonly finish?: () => Promise<void>;
  /** Called right before each commit. */
  readonly beforeCommit?: () => void;
  /** Resolves once everything that was committed before the call is on disk. */
  readonly sync: () => Promise<void>;
  /** Called before a batch and before its acknowledgement; throws if writes are not possible. */
  readonly check?: () => void;
}
