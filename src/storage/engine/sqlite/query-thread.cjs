// The thread of query-thread.ts: runs statements that may take long, so that the event loop does not wait for them. Plain JavaScript, and
// nothing here may throw, for the reasons that checkpoint-thread.cjs has.
const { createRequire } = require("node:module");
const { setPriority } = require("node:os");
const { parentPort, workerData } = require("node:worker_threads");

// On one core, the event loop goes before long queries. Linux has a priority per thread (setpriority(2)), other systems one per process.
if (process.platform === "linux") {
  try {
    setPriority(0, 10);
  } catch {
    // Forbidden by a seccomp filter. The system then divides the core equally.
  }
}

/** Each connection with its statements by SQL text. A statement has one text, so the program limits their number. */
const connections = open();
if (connections) parentPort.on("message", obey);
else parentPort.close();

/** Returns undefined if the file cannot be opened. The next query starts another thread. */
function open() {
  const opened = [];
  try {
    const BetterSqlite = createRequire(workerData.module)("better-sqlite3");
    for (let i = 0; i < workerData.connections; i++) {
      const connection = new BetterSqlite(workerData.file, { readonly: true, fileMustExist: true });
      opened.push({ connection, statements: new Map() });
      for (const pragma of workerData.pragmas) connection.pragma(pragma);
    }
    return opened;
  } catch {
    for (const { connection } of opened) connection.close();
    return undefined;
  }
}

function obey(order) {
  if (order !== "close") {
    const before = process.threadCpuUsage();
    const reply = execute(order);
    const { user, system } = process.threadCpuUsage(before);
    parentPort.postMessage({ ...reply, usedMs: (user + system) / 1000 });
    return;
  }
  for (const { connection } of connections) connection.close();
  parentPort.close();
}

function execute({ connection: index, sql, values }) {
  const { connection, statements } = connections[index];
  try {
    let statement = statements.get(sql);
    if (!statement) {
      statement = connection.prepare(sql);
      if (statement.reader) statement.raw();
      statements.set(sql, statement);
    }
    if (statement.reader) return { rows: statement.all(...values) };
    // COMMIT and ROLLBACK of a connection whose transaction has already ended.
    if (sql === "BEGIN" || connection.inTransaction) statement.run(...values);
    return { rows: [] };
  } catch (error) {
    return { error: { message: String(error.message), code: error.code } };
  }
}
