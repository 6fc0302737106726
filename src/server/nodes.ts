// The servers that share a database know each other by rows there (docs/design/database.md).
import { hash } from "node:crypto";
import { hostname } from "node:os";
import { randomHex } from "../base/random.ts";
import { version } from "../base/version.ts";
import { deleteNode, listNodes, type NodeRow, writeNode } from "../storage/installation/nodes.ts";
import { every } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { WorkerGroup } from "./start-hooks.ts";
import type { ServerStorage } from "./storage.ts";

/** Returns the id of a server, which is the same in all its processes. */
export function nodeIdOf(group: WorkerGroup | undefined): string {
  // The key is a secret, and its digest is not.
  return group ? hash("sha256", `node ${group.key}`).slice(0, 16) : randomHex(8);
}

/** Returns the row of this server, as it is now. */
export function ownNode({ nodeId, config, clock }: Pick<ServerContext, "nodeId" | "config" | "clock">): () => NodeRow {
  const startTime = clock();
  return () => ({
    id: nodeId,
    hostName: hostname(),
    version,
    workerCount: config.workers,
    startTime,
    lastSeenTime: clock(),
  });
}

/** Returns the servers that share the database. A local file has one, which needs no row. */
export function knownNodes(database: ServerStorage["database"], own: () => NodeRow): () => Promise<NodeRow[]> {
  return async () => (database.session.isRemote ? await listNodes(database.session) : [own()]);
}

/**
 * Keeps the row of this server up to date in a remote database, and deletes it when disposed of. One of several workers does
 * it for all.
 */
export function announceNode(context: ServerContext, { database }: ServerStorage): AsyncDisposable {
  const { clock, log, draining: signal, group, nodeId } = context;
  if (!database.session.isRemote || group?.isWriter === false) return { [Symbol.asyncDispose]: async () => {} };
  const own = ownNode(context);
  const write = () => database.write(writeContextAt(clock()), (tx) => writeNode(tx, own()));
  const logFailure = (error: unknown) => log.warn({ err: error }, "the row of this server could not be written");
  // No start waits for it: the server also serves reads of a database that cannot be written.
  const first = write().catch(logFailure);
  const repeated = every(limits.nodeIntervalMs, write, { logFailure, signal });
  return {
    async [Symbol.asyncDispose]() {
      await first;
      await repeated[Symbol.asyncDispose]();
      // The sweeper deletes what stays behind.
      await database.write(writeContextAt(clock()), (tx) => deleteNode(tx, nodeId)).catch(logFailure);
    },
  };
}

function writeContextAt(time: number) {
  return { actor: "", method: "nodes", requestId: "", time };
}
