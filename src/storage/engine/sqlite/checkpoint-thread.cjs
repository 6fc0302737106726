// The thread of checkpointer.ts. A PASSIVE checkpoint neither waits for readers and writers nor blocks them; TRUNCATE
// does, and is used after a full disk or a failed flush. This file is plain JavaScript: to strip types, a thread would
// load the compiler, which takes ten times as long.
//
// Nothing here may throw. Node loads more modules to report an error of a thread, and in a process started from a V8
// snapshot, which has some of them, that ends the process.
const { createRequire } = require("node:module");
const { setPriority } = require("node:os");
const { parentPort, workerData } = require("node:worker_threads");

// On one core, a thread of the same priority blocks the event loop for milliseconds at a time. A slightly lower
// priority suffices: writes wait for this thread once the log is long. Linux has a priority per thread
// (setpriority(2)), other systems one per process.
if (process.platform === "linux") {
  try {
    setPriority(0, 5);
  } catch {
    // Forbidden by a seccomp filter. Reads are then slower during checkpoints.
  }
}

const connection = open();
if (connection) parentPort.on("message", obey);
else parentPort.close();

/**
 * Returns undefined if the file cannot be opened, for example because of too many open files. The next checkpoint
 * starts another thread.
 */
function open() {
  try {
    const BetterSqlite = createRequire(workerData.module)("better-sqlite3");
    const opened = new BetterSqlite(workerData.file, { fileMustExist: true });
    opened.pragma("synchronous = NORMAL");
    return opened;
  } catch {
    return undefined;
  }
}

function obey(order) {
  if (order === "close") {
    connection.close();
    parentPort.close();
  } else {
    parentPort.postMessage(checkpoint(order === "empty" ? "TRUNCATE" : "PASSIVE"));
  }
}

function checkpoint(mode) {
  try {
    const [{ busy, log, checkpointed }] = connection.pragma(`wal_checkpoint(${mode})`);
    return { log, checkpointed, isMade: busy === 0 };
  } catch {
    // For example, a full disk. The log grows until a later checkpoint succeeds; the data is as safe as before.
    return { log: 0, checkpointed: 0, isMade: false };
  }
}
