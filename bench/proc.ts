// Reads a process's measurements from /proc (Linux).
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in /proc/PID/stat: 100 on every architecture that Node runs on. */
const ticksPerSecond = 100;

/** The CPU time of a process and its children so far, those that have ended too, in microseconds, in steps of 10 000 each. */
export function cpuMicrosOf(pid: number): number {
  return sumOverTree(pid, ownCpuMicros);
}

/** The same for the children of a process that run a program, such as `postgres`. */
export function cpuMicrosOfChildren(pid: number, program: string): number {
  const children = childrenOf(pid).filter((child) => readFileSync(`/proc/${child}/comm`, "utf8").trim() === program);
  return children.reduce((sum, child) => sum + cpuMicrosOf(child), 0);
}

/** Returns the memory of a process and its children that no file backs, in MiB. Pages of a mapped database are the kernel's to drop. */
export function anonymousMemoryOf(pid: number): number {
  return sumOverTree(pid, ownAnonymousMemory);
}

/** A worker of the server is a child of the process that was started. */
function sumOverTree(pid: number, measureOne: (pid: number) => number): number {
  return childrenOf(pid).reduce((sum, child) => {
    try {
      return sum + sumOverTree(child, measureOne);
    } catch {
      // It has ended by now.
      return sum;
    }
  }, measureOne(pid));
}

function childrenOf(pid: number): number[] {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).flatMap((thread) => {
    const text = readFileSync(`${threads}/${thread}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  });
}

function ownCpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program is in parentheses and may hold spaces: utime, stime, cutime and cstime begin with the 12th field behind it.
  const times = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15);
  return (times.reduce((sum, ticks) => sum + Number(ticks), 0) * 1_000_000) / ticksPerSecond;
}

function ownAnonymousMemory(pid: number): number {
  const match = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (!match) throw new Error(`/proc/${pid}/status: has no RssAnon`);
  return Number(match[1]) / 1024;
}
