// A reporter of node:test: one line of JSON for each test file, with what the summary shows.
import type { TestEvent } from "node:test/reporters";

/** What the tests of one file took, and how many there were. */
export interface FileTime {
  readonly file: string;
  readonly ms: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Adds up the results of each file. Only the outermost tests and suites count for time: they include the inner ones. */
export default async function* fileTimes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, { -readonly [key in keyof FileTime]: FileTime[key] }>();
  for await (const { type, data } of source) {
    if ((type !== "test:pass" && type !== "test:fail") || !data.file) continue;
    const total = files.get(data.file) ?? { file: data.file, ms: 0, passed: 0, failed: 0, skipped: 0 };
    files.set(data.file, total);
    if (data.nesting === 0) total.ms += data.details.duration_ms;
    if (data.details.type === "suite") continue;
    if (data.skip !== undefined) total.skipped++;
    else if (type === "test:pass") total.passed++;
    else total.failed++;
  }
  for (const total of files.values()) yield `${JSON.stringify(total)}\n`;
}
