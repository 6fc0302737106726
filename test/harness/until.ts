// Waits for what happens elsewhere, by asking again and again.
import { setTimeout as sleep } from "node:timers/promises";

/** Asks until there is a result, and returns it. Rejects if there is none in time, or if `ask` rejects. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>, timeoutMs = 20_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const result = await ask();
    if (result !== undefined) return result;
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${timeoutMs} ms`);
    await sleep(20);
  }
}

/** Waits until a condition holds. An error counts as false. */
export async function untilTrue(holds: () => Promise<boolean>): Promise<void> {
  await until("the condition", async () => (await holds().catch(() => false)) || undefined);
}
