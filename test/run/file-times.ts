// A reporter of node:test: lines of JSON with the results of each test file, for the summary.
import type { TestEvent } from "node:test/reporters";

/** The duration and the number of tests of one file. */
export interface FileTime {
  readonly file: string;
  readonly ms: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Adds up the results of each file, and rewrites the file after each outermost test or suite: a process that is killed leaves those
 * that it had. Only the outermost ones count for time, which includes the inner ones.
 */
export default async function* fileTimes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, { -readonly [key in keyof FileTime]: FileTime[key] }>();
  for await (const { type, data } of source) {
    if ((type !== "test:pass" && type !== "test:fail") || !data.file) continue;
    const total = files.get(data.file) ?? { file: data.file, ms: 0, passed: 0, failed: 0, skipped: 0 };
    files.set(data.file, total);
    if (data.details.type !== "suite") {
      if (data.skip !== undefined) total.skipped++;
      else if (type === "test:pass") total.passed++;
      else total.failed++;
    }
    if (data.nesting > 0) continue;
    total.ms += data.details.duration_ms;
    yield `${JSON.stringify(total)}\n`;
  }
}
