// Works through the queue of images whose SBOMs are to be read.
import { OutboundError } from "../outbound/error.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { findDueImages, postponeImage, type QueuedImage } from "../storage/images/queue.ts";
import { readingLimits } from "./limits.ts";
import { type ReadingContext, readImage } from "./read-image.ts";

/** Reads one due image. Returns the outcome; undefined if none was due. */
export async function readNextImage(context: ReadingContext, log: ReadingLog): Promise<"read" | "failed" | undefined> {
  const [queued] = await findDueImages(context.database.session, context.clock(), 1);
  if (!queued) return undefined;
  try {
    await readImage(context, queued);
    return "read";
  } catch (error) {
    await postpone(context, queued, error, log);
    return "failed";
  }
}

/** The log of failures. */
export interface ReadingLog {
  warn(about: object, message: string): void;
}

async function postpone(
  { database, newWrite }: Pick<ReadingContext, "database" | "newWrite">,
  queued: QueuedImage,
  error: unknown,
  log: ReadingLog,
): Promise<void> {
  const isExpected = error instanceof OutboundError;
  if (!isExpected) log.warn({ err: error }, "the SBOMs of an image could not be read");
  const context: WriteContext = newWrite();
  const attempts = queued.attempts + 1;
  const { firstRetryMs, lastRetryMs } = readingLimits;
  const waitMs = Math.min(lastRetryMs, firstRetryMs * 2 ** (attempts - 1));
  const dueTime = attempts < readingLimits.attempts ? context.time + waitMs : null;
  // Errors of our rules and of the registry may be shown. Others may have names of other tenants.
  const message = isExpected ? error.message : "an internal error";
  await database.write(context, (tx) => postponeImage(tx, queued, { dueTime, attempts, error: message }));
}
