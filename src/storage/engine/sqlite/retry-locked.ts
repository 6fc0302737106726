import { driverCode } from "../errors.ts";

/** The longest pause between two attempts, in milliseconds. */
const maxPauseMs = 100;

/**
 * Retries an action while another process holds the lock, without blocking the event loop. Throws the error of SQLite
 * after `timeoutMs`.
 */
export async function retryWhileLocked(action: () => void, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 2; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      action();
      return;
    } catch (error) {
      if (!driverCode(error)?.startsWith("SQLITE_BUSY") || performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
