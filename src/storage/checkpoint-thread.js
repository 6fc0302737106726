// The thread of checkpointer.ts. PASSIVE never waits for a reader or a writer, nor makes one wait. Plain JavaScript: for
// types, a thread would load the compiler that strips them, at ten times what it costs itself.
import { parentPort, workerData } from "node:worker_threads";
import BetterSqlite from "better-sqlite3";

const connection = new BetterSqlite(String(workerData), { fileMustExist: true });
connection.pragma("synchronous = NORMAL");
parentPort?.on("message", () => connection.pragma("wal_checkpoint(PASSIVE)"));
