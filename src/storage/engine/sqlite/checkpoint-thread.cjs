// The thread of checkpointer.ts. PASSIVE never waits for a reader or a writer, nor makes one wait; TRUNCATE does, where the disk
// is full or a flush has failed. Plain JavaScript: for types, a thread would load the compiler that strips them, at ten times
// what it costs itself.
//
// Nothing here may throw: Node loads what an error of a thread needs to become a message, and where the process began with a
// startup snapshot, which already has a part of that, it ends the process instead.
const { createRequire } = require("node:module");
const { setPriority } = require("node:os");
const { parentPort, workerData } = require("node:worker_threads");

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

const connection = open();
if (connection) parentPort.on("message", obey);
else parentPort.close();

/** Undefined where it cannot be opened: too many open files, say. The next checkpoint starts another thread. */
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
    // A full disk, say. The log grows until a later one succeeds, and the data is as safe as before.
    return { log: 0, checkpointed: 0, isMade: false };
  }
}
