// Watches the process that started this one. A development server that outlives it keeps its port and its data, and nobody knows of it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The interval of the watch, in milliseconds. */
const lookMs = 500;

/** How many processes the watch follows at most. */
const maxAncestors = 8;

/** A process that this one was started by. */
interface Ancestor {
  readonly pid: number;
  /** Its own parent; undefined if that does not matter. */
  readonly parent: number | undefined;
}

/** A process, as the system describes it. */
interface ProcessFacts {
  readonly parent: number;
  readonly command: string;
}

/**
 * Calls `onGone` once, when the process that started this one has ended. A launcher and a shell that runs one command (`sh -c`) only
 * stand between: so `npm start` counts, not the shell that npm starts. Watches nothing if that was init, such as systemd or that
 * of a container, or if this process leads a session (setsid). `parent` is the parent of this process when it began.
 */
export function watchAncestors(parent: number, hasLauncher: boolean, onGone: () => void): Disposable {
  const watched = isIndependent(parent) ? [] : ancestorsOf(parent, hasLauncher);
  const timer = setInterval(() => {
    if (watched.length === 0 || (process.ppid === parent && watched.every(isUnchanged))) return;
    clearInterval(timer);
    onGone();
  }, lookMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function isIndependent(parent: number): boolean {
  return parent <= 1 || sessionOf(process.pid) === process.pid;
}

function ancestorsOf(parent: number, hasLauncher: boolean): readonly Ancestor[] {
  const found: Ancestor[] = [];
  let isBetween = hasLauncher;
  for (let pid = parent; pid > 1 && found.length < maxAncestors; ) {
    const facts = factsOf(pid);
    isBetween ||= facts !== undefined && runsOneCommand(facts.command);
    found.push({ pid, parent: isBetween ? facts?.parent : undefined });
    if (!isBetween || !facts) break;
    pid = facts.parent;
    isBetween = false;
  }
  return found;
}

/** `sh -c "…"`, `/bin/bash -ec "…"`. */
function runsOneCommand(command: string): boolean {
  return /^(?:\S*\/)?(?:ba|da|z|k)?sh\s+-[a-z]*c\s/.test(command);
}

/** An orphan gets another parent at once, while its old one may not have been reaped yet. */
function isUnchanged({ pid, parent }: Ancestor): boolean {
  if (parent === undefined) return true;
  if (process.platform === "linux") return factsOf(pid)?.parent === parent;
  return isRunning(pid) && isRunning(parent);
}

/** Whether a process of this id runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function factsOf(pid: number): ProcessFacts | undefined {
  try {
    if (process.platform === "linux") {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return { parent: statOf(pid)[1]!, command };
    }
    if (process.platform === "win32") return undefined;
    const printed = execFileSync("ps", ["-o", "ppid=,args=", "-p", String(pid)], { encoding: "utf8" });
    const [, parent, command = ""] = /^\s*(\d+)\s+(.*)/.exec(printed) ?? [];
    return parent === undefined ? undefined : { parent: Number(parent), command };
  } catch {
    // It has ended, or belongs to another user.
    return undefined;
  }
}

/** Returns the session of a process; undefined where the system does not say it. */
function sessionOf(pid: number): number | undefined {
  try {
    return process.platform === "linux" ? statOf(pid)[3] : undefined;
  } catch {
    return undefined;
  }
}

/** State, parent, group and session of a process (proc_pid_stat(5)). The name before them may have parentheses. */
function statOf(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}
