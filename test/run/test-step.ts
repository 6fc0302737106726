import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FileTime } from "./file-times.ts";
import { type Print, runProgram, runTool } from "./tool.ts";

const reporter = path.join(import.meta.dirname, "file-times.ts");

/** Runs test files in one process and returns the time of each, also if a test fails: then `error` says so. */
export async function runTests(
  files: readonly string[],
  env: NodeJS.ProcessEnv,
  print?: Print,
): Promise<{ readonly times: readonly FileTime[]; readonly error?: unknown }> {
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

/** Runs test files, each in a process of its own, again at each change of what it imports. */
export async function watchTests(files: readonly string[]): Promise<void> {
  if (files.length === 0) throw new Error("name the test files that are to be watched");
  await runProgram([process.execPath, "--test", "--watch", ...files], { timeoutMs: 2 ** 31 - 1 });
}

/** The last line of each file counts. A process that was killed may leave half a line. */
function readTimes(report: string): FileTime[] {
  const lines = existsSync(report) ? readFileSync(report, "utf8").split("\n").slice(0, -1) : [];
  const times = lines.map((line): FileTime => JSON.parse(line));
  return [...new Map(times.map((time) => [time.file, time])).values()];
}
