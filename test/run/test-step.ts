import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FileTime } from "./file-times.ts";
import { type Print, runTool } from "./tool.ts";

const reporter = path.join(import.meta.dirname, "file-times.ts");

/** Runs test files in one process and returns the time of each, also if a test fails: then `error` says so. */
export async function runTests(
  files: readonly string[],
  memoryFolder: string | undefined,
  print?: Print,
): Promise<{ readonly times: readonly FileTime[]; readonly error?: unknown }> {
  const env = memoryFolder ? { ...process.env, TMPDIR: memoryFolder } : process.env;
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-times-"));
  const report = path.join(folder, "times.ndjson");
  const reporters = [
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${report}`,
  ];
  try {
    await runTool(
      "node",
      ["--test", "--test-isolation=none", "--test-timeout=180000", ...reporters, ...files],
      print,
      env,
    );
    return { times: readTimes(report) };
  } catch (error) {
    return { times: readTimes(report), error };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The last line of each file counts. A process that was killed may leave half a line. */
function readTimes(report: string): FileTime[] {
  const lines = existsSync(report) ? readFileSync(report, "utf8").split("\n").slice(0, -1) : [];
  const times = lines.map((line): FileTime => JSON.parse(line));
  return [...new Map(times.map((time) => [time.file, time])).values()];
}
