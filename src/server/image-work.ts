// The background work for images: reads their SBOMs, compares their packages with advisories, and deletes rows that belong to no image.
import { readNextImage } from "../registry-contents/reading-queue.ts";
import { type EvaluationCounts, evaluateNext, hasEvaluationDue } from "../services/registry/contents/evaluator.ts";
import { imageWorkMethod, newEventQuota } from "../services/registry/contents/finding-events.ts";
import { type ScanPosition, sweepOrphans } from "../services/registry/contents/sweep-contents.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { findDueImages } from "../storage/images/queue.ts";
import { isLeaseFree, type Lease, releaseLease, takeLease } from "../storage/installation/lease.ts";
import { every } from "./every.ts";
import type { ImageReading } from "./image-reading.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";

/** Another server can take over from a dead one after this time. */
const lease: Lease = { name: "images_lease", length: 30_000 };

/** Counts the work that this process did. */
export interface ImageWorkCounts {
  /** Attempts to read the SBOMs of an image. */
  readonly readings: Record<"read" | "failed", number>;
  readonly evaluations: EvaluationCounts;
}

/** Returns counts of no work. */
export function newImageWorkCounts(): ImageWorkCounts {
  return { readings: { read: 0, failed: 0 }, evaluations: { package: 0, advisory: 0 } };
}

/** Starts the work; of several workers, one does it. Disposing waits for the image in progress, and lets another server go on. */
export function workOnImages(
  context: ServerContext,
  { database }: ServerStorage,
  reading: ImageReading,
  counts: ImageWorkCounts,
): AsyncDisposable {
  const { clock, log, draining, nodeId, group } = context;
  if (group?.isWriter === false) return { [Symbol.asyncDispose]: async () => {} };
  const newWrite = (): WriteContext => ({
    actor: "",
    method: imageWorkMethod,
    requestId: "",
    time: clock(),
    isBulk: true,
  });
  const { session } = database;
  const { service: registryService, group: registryGroup } = context.config.registry;
  const settings = { registryService, registryGroup, maxDepth: limits.groupDepth };
  const quota = newEventQuota(clock);
  let leaseEnd = 0;
  let position: ScanPosition = { image: 0, package: 0 };

  async function leads(): Promise<boolean> {
    if (!(await isLeaseFree(session, lease, nodeId, clock()))) return false;
    const left = leaseEnd - clock();
    if (left > lease.length / 2 && left <= lease.length) return true;
    leaseEnd = (await database.write(newWrite(), (tx) => takeLease(tx, lease, nodeId))) ?? 0;
    return leaseEnd > 0;
  }

  async function read(): Promise<void> {
    while (!draining.aborted && (await findDueImages(session, clock(), 1)).length > 0 && (await leads())) {
      const outcome = await readNextImage({ ...reading, newWrite }, log);
      if (outcome) counts.readings[outcome] += 1;
    }
  }

  async function compare(): Promise<void> {
    while (!draining.aborted && (await hasEvaluationDue(database)) && (await leads()))
      await evaluateNext({ database, newWrite, settings, quota, counts: counts.evaluations });
  }

  async function sweep(): Promise<void> {
    position = await sweepOrphans(database, newWrite, position);
  }

  const logFailure = (error: unknown) => log.warn({ err: error }, "the work on images failed");
  const options = { logFailure, signal: draining };
  const repeated = [
    every(limits.imageWorkMs, read, options),
    every(limits.imageWorkMs, compare, options),
    every(limits.imageScanMs, sweep, options),
  ];
  return {
    async [Symbol.asyncDispose]() {
      for (const each of repeated) await each[Symbol.asyncDispose]();
      if (leaseEnd > 0) await database.write(newWrite(), (tx) => releaseLease(tx, lease, nodeId)).catch(logFailure);
    },
  };
}
