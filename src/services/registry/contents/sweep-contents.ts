// Deletes what belongs to no image or repo, and the sweeper of deleted images does not find.
import type { Database } from "../../../storage/database.ts";
import type { WriteContext } from "../../../storage/engine/session.ts";
import { scanImages } from "../../../storage/images/images.ts";
import { removeImage, removeUnusedPackages, scanPackages } from "../../../storage/images/removal.ts";
import { contentLimits } from "./limits.ts";

/** The rows that a scan has seen. */
export interface ScanPosition {
  readonly image: number;
  readonly package: number;
}

/**
 * Looks through a part of all images and packages for those that nothing belongs to: an earlier release deletes repos without their images,
 * and packages without their images. Returns the position of the next part; the beginning after the end.
 */
export async function sweepOrphans(
  database: Database,
  newContext: () => WriteContext,
  position: ScanPosition,
): Promise<ScanPosition> {
  const { portion, scanned } = contentLimits;
  const images = await scanImages(database.session, position.image, scanned);
  for (const { no } of images.filter(({ isOrphan }) => isOrphan))
    await database.write(newContext(), (tx) => removeImage(tx, no, portion));
  const packages = await scanPackages(database.session, position.package, scanned);
  const unused = packages.flatMap(({ no, isUsed }) => (isUsed ? [] : [no]));
  if (unused.length > 0) await database.write(newContext(), (tx) => removeUnusedPackages(tx, unused.slice(0, portion)));
  return {
    image: images.length < scanned ? 0 : images.at(-1)!.no,
    package: packages.length < scanned ? 0 : packages.at(-1)!.no,
  };
}
