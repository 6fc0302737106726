// How often clients have met a bound of the listener, for metrics: what it refuses, no call tells of.

/** What was met; see limits.ts. */
export type MetLimit =
  | "connections"
  | "connections of a client"
  | "control frames"
  | "headers"
  | "pieces"
  | "pipelined requests"
  | "stream resets"
  | "time of a reply"
  | "time of a request"
  | "unread replies";

/** Told of each connection, stream or request that was refused or ended for a limit. */
export type OnLimit = (limit: MetLimit, times?: number) => void;

/** Totals since the start. */
export type MetLimits = Readonly<Record<MetLimit, number>>;

/** Begins to count. */
export function newMetLimits(): { readonly totals: MetLimits; readonly count: OnLimit } {
  const totals: Record<MetLimit, number> = {
    connections: 0,
    "connections of a client": 0,
    "control frames": 0,
    headers: 0,
    pieces: 0,
    "pipelined requests": 0,
    "stream resets": 0,
    "time of a reply": 0,
    "time of a request": 0,
    "unread replies": 0,
  };
  return {
    totals,
    count(limit, times = 1) {
      totals[limit] += times;
    },
  };
}
