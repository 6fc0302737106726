// Runs crash-writer.ts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));

/** The result of a writer. */
export interface WriterResult {
  /** The uids that it printed as acknowledged. */
  readonly acknowledged: readonly string[];
  readonly exitCode: number | null;
}

/** Runs a writer to its end, or kills it once it has acknowledged `killAfter` groups. */
export async function runWriter(
  url: string,
  label: string,
  count: number,
  killAfter = Infinity,
): Promise<WriterResult> {
  const child = spawn(process.execPath, [program, url, label, `${count}`], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const acknowledged: string[] = [];
  for await (const uid of createInterface({ input: child.stdout })) {
    acknowledged.push(uid);
    if (acknowledged.length === killAfter) child.kill("SIGKILL");
  }
  await closed;
  return { acknowledged, exitCode: child.exitCode };
}
