// The background work of a server: it reads the signing keys, deletes expired rows and delivers events.
import { setTimeout } from "node:timers/promises";
import type { KeyRing } from "../authn/key-ring.ts";
import { dayMs } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { deliverEvents, type EventDelivery } from "../events/dispatcher.ts";
import { registryLimits } from "../registry-notifications/limits.ts";
import { subscriptionInactivity } from "../services/iam/delegations/inactive-delegations.ts";
import { countAdvisoryLevels } from "../services/statistics/advisory-levels.ts";
import { countDelivery } from "../services/statistics/counted-events.ts";

import { statisticsLimits } from "../services/statistics/limits.ts";
import { fillScores } from "../services/vulnerabilities/advisories/advisory-scores.ts";
import { type RetentionPolicy, sweep } from "../storage/sweep.ts";
import type { ServerApi } from "./api.ts";
import { every } from "./every.ts";
import type { ImageReading } from "./image-reading.ts";
import { newImageWorkCounts, workOnImages } from "./image-work.ts";
import { limits } from "./limits.ts";
import { measureEvents } from "./metrics/event-metrics.ts";
import { measureImages } from "./metrics/image-metrics.ts";
import { indexNames } from "./name-index.ts";
import { announceNode } from "./nodes.ts";
import { eventSender } from "./outbound.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";
import { deleteEndedBindings } from "./term-ends.ts";

/** The running background work. Disposing it aborts deliveries in progress, and waits until nothing uses the database. */
export interface BackgroundWork extends AsyncDisposable {
  /** Starts no more deliveries, and waits up to `timeoutMs` for those in progress. */
  drain(timeoutMs: number): Promise<void>;
  /** Does what is due at the time of the clock: replaces signing keys, ends the terms of role bindings, deletes expired rows. */
  catchUp(): Promise<void>;
}

/** Starts the background work. The periodic tasks end when the server begins to drain. */
export function startBackgroundWork(
  context: ServerContext,
  storage: ServerStorage,
  api: ServerApi,
  reading: ImageReading,
): BackgroundWork {
  const { config, clock, log, draining: signal } = context;
  const { database, keys } = storage;
  const work = new AsyncDisposableStack();
  const repeat = (intervalMs: number, task: () => Promise<void>, failure: string) =>
    work.use(every(intervalMs, task, { logFailure: (error) => log.warn({ err: error }, failure), signal }));
  const writeContext = (method: string) => ({ actor: "", method, requestId: "", time: clock() });
  const keyRefresh = repeat(limits.keyRefreshMs, () => refreshKeys(keys), "signing keys could not be read");
  work.use(announceNode(context, storage));
  work.use(indexNames(context, storage));
  const termEnds = work.use(deleteEndedBindings(context, storage));
  const imageCounts = newImageWorkCounts();
  work.use(workOnImages(context, storage, reading, imageCounts));
  measureImages(api.metrics, database, clock, imageCounts);
  const retention = retentionPolicy(config);
  const removeExpired = () => sweep(database, writeContext("sweep"), retention, signal);
  const removal = repeat(limits.sweepMs, removeExpired, "what has expired could not be removed");
  const countAdvisories = async () => {
    // Advisories without a score are in no count.
    await fillScores(database, { ...writeContext("fill_scores"), isBulk: true }, signal);
    await countAdvisoryLevels(database, () => ({ ...writeContext("statistics"), isBulk: true }), signal);
  };
  repeat(limits.sweepMs, countAdvisories, "open advisories could not be counted");
  const delivery = config.deliversEvents ? work.use(startDelivery(context, storage, api)) : undefined;
  measureEvents(api.metrics, database, clock, delivery);
  return {
    drain: async (timeoutMs) => await delivery?.drain(timeoutMs),
    async catchUp() {
      for (const task of [keyRefresh, termEnds, removal]) await task.runNow();
    },
    [Symbol.asyncDispose]: () => work.disposeAsync(),
  };
}

/** Waits a limited time only: a read without a response must not keep the node from starting another. */
async function refreshKeys(keys: KeyRing): Promise<void> {
  await Promise.race([keys.refresh(), setTimeout(limits.keyPatienceMs, undefined, { ref: false })]);
}

function startDelivery(context: ServerContext, storage: ServerStorage, { eventOf }: ServerApi): EventDelivery {
  const { database, encryption, tally } = storage;
  return deliverEvents({
    database,
    encryption,
    find: eventOf,
    inactivityOf: (uid) => subscriptionInactivity(database.session, uid),
    sender: eventSender(context, storage.keys),
    log: context.log,
    count: (outcome, groupUid) => countDelivery(tally, outcome, groupUid, context.clock()),
  });
}

function retentionPolicy(config: Config): RetentionPolicy {
  const { changesKeptMs, accessLogKeptMs, accessRecordsKeptMs, seenTokensKeptMs, usesKeptMs } = config;
  return {
    registryEventMs: registryLimits.notificationMemoryMs,
    eventMs: limits.eventMemoryMs,
    nodeMs: limits.nodeMemoryMs,
    retiredKeyMs: limits.retiredKeyMemoryMs,
    changeMs: changesKeptMs,
    accessMs: accessLogKeptMs,
    accessRecordMs: accessRecordsKeptMs,
    seenTokenMs: seenTokensKeptMs,
    usageMs: limits.usageMemoryMs,
    imageUseMs: usesKeptMs,
    countMs: statisticsLimits.keptDays * dayMs,
  };
}
