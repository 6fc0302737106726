// The launcher, which runs the program on another Node than its own, and passes signals on (docs/decisions/0008-launcher.md).

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
  const timer = setInterval(() => {
    // A process without its parent is handed to another one.
    if (process.ppid === launcher) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, lookMs);
  timer.unref();
}
