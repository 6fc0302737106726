// How long the main thread of a page is busy at a time.
import type { Browser, Page } from "playwright-core";

/** An event of Chromium's trace. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** The CPU time in microseconds. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/**
 * Returns the most CPU time of a task of the main thread while `act` runs, in milliseconds. The duration of a task depends on what else
 * the machine does.
 */
export async function longestTaskMs(browser: Browser, page: Page, act: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  let trace: Buffer;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  return longestTask(trace);
}

function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(String(trace)) as { readonly traceEvents: readonly TraceEvent[] };
  const isMain = ({ pid, tid }: TraceEvent) =>
    traceEvents.some((one) => one.pid === pid && one.tid === tid && one.args.name === "CrRendererMain");
  const tasks = traceEvents.filter(({ name }) => name === "RunTask").sort((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0));
  return Math.round((tasks.find(isMain)?.tdur ?? 0) / 1000);
}
