// The directory of an emulator's data: removed when it stops, or when the next one starts if it was killed.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isRunning } from "../ancestors.ts";
import { openLock } from "../lock.ts";

const prefix = "gatehouse-emulator-";

const lockName = "lock";

/** An emulator that is starting has made its directory, but not locked it yet. */
const startMs = 60_000;

/** A directory of this process. Disposing removes it. */
export interface DataDirectory extends Disposable {
  readonly path: string;
}

/** Makes a directory that only this user can read, and removes those of emulators that were killed. */
export async function openDataDirectory(): Promise<DataDirectory> {
  await removeAbandoned();
  const directory = mkdtempSync(path.join(tmpdir(), `${prefix}${process.pid}-`));
  const lock = await openLock(path.join(directory, lockName), 0);
  return {
    path: directory,
    [Symbol.dispose]() {
      lock?.[Symbol.dispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function removeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined) await removeIfAbandoned(path.join(tmpdir(), name), Number(pid)).catch(() => {});
  }
}

/** The directories of other users are left alone. */
async function removeIfAbandoned(directory: string, pid: number): Promise<void> {
  const { uid, mtimeMs } = statSync(directory);
  if (uid !== (process.getuid?.() ?? uid)) return;
  // With containers that share the directory for temporary files, the process id says nothing: then the lock decides.
  if (isRunning(pid) && Date.now() - mtimeMs < startMs) return;
  const file = path.join(directory, lockName);
  const lock = existsSync(file) ? await openLock(file, 0) : { [Symbol.dispose]() {} };
  if (!lock) return;
  lock[Symbol.dispose]();
  rmSync(directory, { recursive: true, force: true });
}
