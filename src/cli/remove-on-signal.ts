import { rmSync } from "node:fs";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes files when a signal ends the program. Returns a function that stops listening. */
export function removeOnSignal(...files: readonly string[]): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    forget();
    try {
      for (const file of files) rmSync(file, { force: true });
    } finally {
      process.kill(process.pid, signal);
    }
  };
  const forget = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return forget;
}
