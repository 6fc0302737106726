// The launcher, which runs the program on another Node than its own, and passes signals on (docs/decisions/0008).

/** How often the program looks whether its launcher is still there, in milliseconds. */
const lookMs = 500;

/** The variable in which the launcher (gatehouse.js) says which process it is. */
const launcherVariable = "GATEHOUSE_LAUNCHER_PID";

let launcher: number | undefined;

/** Whether a launcher passes its signals on to this process. A signal to the whole group then comes twice. */
export function hasLauncher(): boolean {
  return launcher !== undefined;
}

/**
 * Ends this process, as SIGTERM does, once the launcher that it was started by is gone. SIGKILL cannot be passed on, and a server
 * that nobody knows of would keep its port and its data directory.
 */
export function endWithLauncher(environment: NodeJS.ProcessEnv): void {
  launcher = Number(environment[launcherVariable]) || undefined;
  // What this process starts has another parent.
  delete environment[launcherVariable];
  if (launcher === undefined) return;
  tellReady(launcher);
  const timer = setInterval(() => {
    // A process without its parent is handed to another one.
    if (process.ppid === launcher) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, lookMs);
  timer.unref();
}

/** Has the launcher pass SIGHUP on from now on: before, it would end a program that is still loading. */
function tellReady(launcher: number): void {
  // Windows has no such signals. Where the launcher has ended, its number may be that of another process.
  if (process.platform === "win32" || process.ppid !== launcher) return;
  process.kill(launcher, "SIGUSR2");
}
