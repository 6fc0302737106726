// The metrics of the work on images: SBOMs to be read, and packages to be compared with advisories.
import { boundedReading } from "../../base/bounded-reading.ts";
import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../observe/metrics.ts";
import { evaluatorVersion } from "../../services/registry/contents/evaluator-version.ts";
import type { Database } from "../../storage/database.ts";
import type { Session } from "../../storage/engine/session.ts";
import { countQueuedImages, countUnevaluated, earliestDueTime } from "../../storage/images/queue-figures.ts";
import type { ImageWorkCounts } from "../image-work.ts";
import { limits } from "../limits.ts";

/** Registers the metrics of the work on images. */
export function measureImages(
  metrics: Metrics,
  { session }: Pick<Database, "session">,
  clock: Clock,
  { readings, evaluations }: ImageWorkCounts,
): void {
  metrics.counters("gatehouse_image_readings_total", "Attempts to read the SBOMs of an image.", "outcome", () => ({
    ...readings,
  }));
  metrics.counters(
    "gatehouse_package_evaluations_total",
    "Comparisons of a package with advisories, by what caused them.",
    "cause",
    () => ({ ...evaluations }),
  );
  const readQueue = boundedReading(() => queueOf(session), limits.expensiveMetrics);
  const gauge = (name: string, help: string, value: (queue: ImageQueue) => number) =>
    metrics.gauge({ name, help, combined: "max" }, async () => {
      const queue = await readQueue();
      return queue && value(queue);
    });
  gauge("gatehouse_image_queue_images", "Images whose SBOMs wait to be read.", ({ waiting }) => waiting);
  gauge("gatehouse_image_queue_failed", "Images whose SBOMs could not be read in any attempt.", ({ failed }) => failed);
  gauge("gatehouse_image_queue_age_seconds", "Time for which the first image has been due; 0 if none is.", ({ due }) =>
    Math.max(0, (clock() - (due ?? clock())) / 1000),
  );
  gauge(
    "gatehouse_package_evaluation_queue_packages",
    "Packages that wait to be compared with all advisories.",
    ({ packages }) => packages,
  );
}

/** The work that waits. */
interface ImageQueue {
  readonly waiting: number;
  readonly failed: number;
  /** When the first image is due, in milliseconds since the epoch; undefined if none waits. */
  readonly due: number | undefined;
  readonly packages: number;
}

async function queueOf(session: Session): Promise<ImageQueue> {
  const images = await countQueuedImages(session, limits.countedImages);
  const due = await earliestDueTime(session);
  return { ...images, due, packages: await countUnevaluated(session, evaluatorVersion, limits.countedImages) };
}
