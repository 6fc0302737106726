// Builds the options of the service for operators: signing keys, and facts about the server.
import { logEndedSession } from "../access-log/ended-sessions.ts";
import { logKeyRetirement, logKeyRotation } from "../access-log/key-rotations.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import type { OperateContext } from "../services/operate/operate.ts";
import { limits } from "./limits.ts";
import { knownNodes, ownNode } from "./nodes.ts";
import { readinessProblem } from "./readiness.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";

/** The counters of met limits. */
export const limitsMetric = "gatehouse_limits_met_total";

/** Returns the dependencies of the service beyond those of all services. The server starts now. */
export function operateOptions(
  context: ServerContext,
  { database, keys }: ServerStorage,
  metrics: Pick<Metrics, "totals">,
): Omit<OperateContext, keyof ServiceContext | "encryption"> {
  const { config, clock, nodeId } = context;
  return {
    nodes: { id: nodeId, list: knownNodes(database, ownNode(context)) },
    keys,
    signingAlgorithm: config.signingAlgorithm,
    keyOverlapMs: limits.keyOverlapMs,
    signingKeyLog: { rotated: logKeyRotation, retired: logKeyRetirement },
    logEndedSession,
    installation: {
      startTime: clock(),
      workers: config.workers,
      databaseProblem: () => database.check().then(() => "", readinessProblem),
      limitsMet: () => metrics.totals(limitsMetric),
    },
  };
}
