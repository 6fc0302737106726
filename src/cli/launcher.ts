// The launcher runs the program on a newer Node than its own, and forwards signals (docs/decisions/0008).

/** How often the program checks whether its launcher is still running, in milliseconds. */
const lookMs = 500;

/** The variable with the launcher's process id, set by gatehouse.js. */
const launcherVariable = "GATEHOUSE_LAUNCHER_PID";

let launcher: number | undefined;

/** The parent of this process when it began: a process that ends meanwhile must not go unnoticed. */
const firstParent = process.ppid;

/** Returns the parent of this process when it began. */
export function parentAtStart(): number {
  return firstParent;
}

/** Reports whether a launcher forwards signals to this process. A signal to the process group then arrives twice. */
export function hasLauncher(): boolean {
  return launcher !== undefined;
}

/**
 * Stops this process, as SIGTERM does, when its launcher is gone. SIGKILL cannot be forwarded, and an orphaned server
 * would keep its port and data directory.
 */
export function endWithLauncher(environment: NodeJS.ProcessEnv): void {
  launcher = Number(environment[launcherVariable]) || undefined;
  // Child processes have another parent.
  delete environment[launcherVariable];
  if (launcher === undefined) return;
  tellReady(launcher);
  const timer = setInterval(() => {
    // An orphaned process gets another parent.
    if (process.ppid === launcher) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, lookMs);
  timer.unref();
}

/** Tells the launcher to forward SIGHUP from now on. Earlier it would end a program that is still loading. */
function tellReady(launcher: number): void {
  // Windows has no such signals. If the launcher has ended, its process id may belong to another process.
  if (process.platform === "win32" || process.ppid !== launcher) return;
  process.kill(launcher, "SIGUSR2");
}
