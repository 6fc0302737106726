// A reporter of node:test: lines of JSON with the results of each test file, for the summary.
import type { TestEvent } from "node:test/reporters";

/** A test that failed: its name, and the message of its error, at most 500 characters of it. */
export interface TestFailure {
  readonly name: string;
  readonly message: string;
}

/** The duration and the number of tests of one file. */
export interface FileTime {
  readonly file: string;
  readonly ms: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The first 20 tests that failed. */
  readonly failures: readonly TestFailure[];
}

const maxFailures = 20;
const maxMessageLength = 500;

/**
 * Adds up the results of each file, and rewrites the file after each outermost test or suite: a process that is killed leaves those
 * that it had. Only the outermost ones count for time, which includes the inner ones.
 */
export default async function* fileTimes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, Total>();
  for await (const event of source) {
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    const { file } = data;
    if (!file) continue;
    const total = files.get(file) ?? newTotal(file);
    files.set(file, total);
    if (data.details.type !== "suite") count(total, event);
    if (data.nesting > 0) continue;
    total.ms += data.details.duration_ms;
    yield `${JSON.stringify(total)}\n`;
  }
}

type Total = { -readonly [key in keyof FileTime]: FileTime[key] } & { readonly failures: TestFailure[] };

function newTotal(file: string): Total {
  return { file, ms: 0, passed: 0, failed: 0, skipped: 0, failures: [] };
}

function count(total: Total, { type, data }: Extract<TestEvent, { type: "test:pass" | "test:fail" }>): void {
  if (data.skip !== undefined) total.skipped++;
  else if (type === "test:pass") total.passed++;
  else {
    total.failed++;
    if (total.failures.length < maxFailures)
      total.failures.push({ name: data.name, message: messageOf(data.details.error) });
  }
}

/** The runner wraps what a test threw. */
function messageOf(error: Error): string {
  const thrown = error.cause instanceof Error ? error.cause : error;
  return thrown.message.trim().slice(0, maxMessageLength);
}
