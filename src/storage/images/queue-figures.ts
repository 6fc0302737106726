// Figures about the work on images that waits, for metrics.
import { limitOf, numberPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { asc, count, isNotNull, isNull, lt } from "../schema/drizzle.ts";

/** Returns for how many images SBOMs are to be read, and for how many all attempts failed; `limit` stands for that many or more. */
export async function countQueuedImages(
  session: Session,
  limit: number,
): Promise<{ readonly waiting: number; readonly failed: number }> {
  const countOf = async (name: "waiting" | "failed") => {
    const statement = session.prepared(`image_queue.count_${name}`, (db, { imageQueue }) => {
      const { dueTime, image } = imageQueue;
      const condition = name === "waiting" ? isNotNull(dueTime) : isNull(dueTime);
      const queued = db.select({ image }).from(imageQueue).where(condition).limit(limitOf("limit"));
      return db.select({ rows: count() }).from(queued.as("queued"));
    });
    return (await statement.execute({ limit }))[0]?.rows ?? 0;
  };
  return { waiting: await countOf("waiting"), failed: await countOf("failed") };
}

/** Returns the earliest time at which an image is or was due; undefined if none waits. */
export async function earliestDueTime(session: Session): Promise<number | undefined> {
  const statement = session.prepared("image_queue.earliest", (db, { imageQueue }) =>
    db
      .select({ dueTime: imageQueue.dueTime })
      .from(imageQueue)
      .where(isNotNull(imageQueue.dueTime))
      .orderBy(asc(imageQueue.dueTime))
      .limit(limitOf(1)),
  );
  return (await statement.execute())[0]?.dueTime ?? undefined;
}

/** Returns how many packages are to be compared with all advisories; `limit` stands for that many or more. */
export async function countUnevaluated(session: Session, evaluator: number, limit: number): Promise<number> {
  const statement = session.prepared("packages.count_unevaluated", (db, { packages }) => {
    const waiting = db
      .select({ no: packages.no })
      .from(packages)
      .where(lt(packages.evaluator, numberPlaceholder("evaluator")))
      .limit(limitOf("limit"));
    return db.select({ rows: count() }).from(waiting.as("waiting"));
  });
  return (await statement.execute({ evaluator, limit }))[0]?.rows ?? 0;
}
