// Sends a call for each of many rows: eight at once, with a result for each.

/** How many calls are under way at once. */
const parallel = 8;

/** The result for a row. A row that was not begun is untouched. */
export type BulkResult =
  | { readonly state: "untouched" | "running" | "done" }
  | { readonly state: "failed"; readonly reason: string };

interface RunOptions<Row> {
  readonly rows: readonly Row[];
  /** Acts on a row. Throws the reason if that fails. */
  readonly act: (row: Row) => Promise<unknown>;
  readonly reasonOf: (error: unknown) => string;
  readonly onResult: (row: Row, result: BulkResult) => void;
  /** Ends the run: calls under way are waited for, so that each has its result, and no other begins. */
  readonly signal: AbortSignal;
}

/** Acts on all rows, and returns when no call is under way. */
export async function runBulk<Row>({ rows, act, reasonOf, onResult, signal }: RunOptions<Row>): Promise<void> {
  await forEachOf(rows, async (row) => {
    if (signal.aborted) return;
    onResult(row, { state: "running" });
    onResult(row, await resultOf(act(row), reasonOf));
  });
}

/** Does the same for each row, for eight at once. */
export async function forEachOf<Row>(rows: readonly Row[], act: (row: Row) => Promise<void>): Promise<void> {
  const waiting = rows.values();
  const work = async () => {
    for (const row of waiting) await act(row);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

async function resultOf(action: Promise<unknown>, reasonOf: (error: unknown) => string): Promise<BulkResult> {
  try {
    await action;
    return { state: "done" };
  } catch (error) {
    return { state: "failed", reason: reasonOf(error) };
  }
}
