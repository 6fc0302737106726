// The thread of checkpointer.ts. PASSIVE never waits for a reader or a writer, nor makes one wait; TRUNCATE does, where the disk
// is full. Plain JavaScript: for types, a thread would load the compiler that strips them, at ten times what it costs itself.
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import BetterSqlite from "better-sqlite3";

// On one core, a thread of the same priority takes the core from the event loop for milliseconds at a time. A little lower
// only: writes wait for this one once the log is long. On Linux every thread has a priority of its own (setpriority(2)),
// elsewhere it would be that of the process.
if (process.platform === "linux") {
  try {
    setPriority(0, 5);
  } catch {
    // Forbidden by a filter of system calls. Reads are slower then beside writes.
  }
}

const connection = new BetterSqlite(String(workerData), { fileMustExist: true });
connection.pragma("synchronous = NORMAL");
parentPort?.on("message", (order) => {
  if (order === "close") {
    connection.close();
    parentPort.close();
  } else {
    parentPort.postMessage(checkpoint(order === "empty" ? "TRUNCATE" : "PASSIVE"));
  }
});

function checkpoint(mode) {
  try {
    const [{ log, checkpointed }] = connection.pragma(`wal_checkpoint(${mode})`);
    return { log, checkpointed };
  } catch {
    // A full disk, say. The log grows until a later one succeeds, and the data is as safe as before.
    return { log: 0, checkpointed: 0 };
  }
}
