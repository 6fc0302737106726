// What Linux says about a process.
import { readFileSync } from "node:fs";

/** Clock ticks per second in /proc/PID/stat: 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** The CPU time of all threads of a process so far, in microseconds, in steps of 10 000. */
export function cpuMicrosOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program is in parentheses and may hold spaces: utime and stime are the 12th and 13th behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / ticksPerSecond;
}

/** The memory of a process that no file backs, in MiB. Pages of a mapped database are the kernel's to drop. */
export function anonymousMemoryOf(pid: number): number {
  const match = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (!match) throw new Error(`/proc/${pid}/status: has no RssAnon`);
  return Number(match[1]) / 1024;
}
