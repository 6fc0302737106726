import { useEffect, useRef, useState } from "react";
import { queryClient } from "../api/transport.ts";
import { type BulkResult, runBulk } from "./bulk-run.ts";

/** How often the results are shown while they come, in milliseconds. */
const shownEveryMs = 100;

interface BulkRunOptions<Row> {
  readonly act: (row: Row) => Promise<unknown>;
  readonly reasonOf: (error: unknown) => string;
  /** Takes the rows that are done, before the views read their data again. */
  readonly onEnd: (done: readonly Row[]) => void;
}

/** An action on many rows, as far as it is. */
export interface BulkRun<Row> {
  /** The result for each row; undefined before the start. */
  readonly results: ReadonlyMap<Row, BulkResult> | undefined;
  readonly isRunning: boolean;
  readonly start: (rows: readonly Row[]) => void;
  readonly stop: () => void;
}

/** Returns an action that has not begun. Leaving the page stops it. */
export function useBulkRun<Row>({ act, reasonOf, onEnd }: BulkRunOptions<Row>): BulkRun<Row> {
  const all = useRef(new Map<Row, BulkResult>());
  const [results, setResults] = useState<ReadonlyMap<Row, BulkResult>>();
  const [running, setRunning] = useState<AbortController>();
  const latest = useRef(running);
  latest.current = running;
  useEffect(() => () => latest.current?.abort(), []);

  async function start(rows: readonly Row[]) {
    const controller = new AbortController();
    const show = () => setResults(new Map(all.current));
    for (const row of rows) all.current.set(row, { state: "untouched" });
    show();
    setRunning(controller);
    const timer = setInterval(show, shownEveryMs);
    const onResult = (row: Row, result: BulkResult) => void all.current.set(row, result);
    await runBulk({ rows, act, reasonOf, onResult, signal: controller.signal });
    clearInterval(timer);
    show();
    setRunning(undefined);
    onEnd([...all.current].filter(([, { state }]) => state === "done").map(([row]) => row));
    await queryClient.invalidateQueries();
  }

  return {
    results,
    isRunning: running !== undefined,
    start: (rows) => void start(rows),
    stop: () => running?.abort(),
  };
}
