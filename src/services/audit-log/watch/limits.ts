/** Limits of streams of changes, besides the setting `max-watches`. Times are in milliseconds. */
export const watchLimits = {
  /** Streams of one caller. */
  watchesOfCaller: 100,
  /** The delay after which a rejected client may try again. */
  retryMs: 30_000,
  /** The interval of responses while nothing changes. */
  heartbeatMs: 15_000,
  /** How often streams are looked at for heartbeats, expired tokens and closing connections. */
  tickMs: 1_000,
  /** The interval in which the change log is looked at for commits of other processes: a file, and a database server. */
  lookMs: { local: 100, remote: 250 },
  /** The shortest time between two looks. Changes of that time go into one response. */
  pauseMs: 20,
  /** The total length of the texts of the changes that a process keeps for streams that are behind, in UTF-16 units. */
  keptLength: 8 * 1024 * 1024,
  /** Entries of the change log that are read at once. */
  entriesPerLook: 500,
  /** Changes that are read with their rows at once: both rows of each can be large. */
  rowsAtOnce: 10,
  /** Changes in one response, and the total length of their texts. */
  changesPerResponse: 200,
  lengthOfResponse: 1024 * 1024,
} as const;
