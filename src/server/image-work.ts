// The background work for images: deletes rows that belong to no image.
import { type ScanPosition, sweepOrphans } from "../services/registry/contents/sweep-contents.ts";
import type { WriteContext } from "../storage/engine/session.ts";
import { every } from "./every.ts";
import { limits } from "./limits.ts";
import type { ServerContext } from "./server-context.ts";
import type { ServerStorage } from "./storage.ts";

/** Starts the work; of several workers, one does it. Disposing waits for the transaction in progress. */
export function workOnImages(context: ServerContext, { database }: ServerStorage): AsyncDisposable {
  const { clock, log, draining, group } = context;
  if (group?.isWriter === false) return { [Symbol.asyncDispose]: async () => {} };
  const newWrite = (): WriteContext => ({ actor: "", method: "images", requestId: "", time: clock(), isBulk: true });
  let position: ScanPosition = { image: 0, package: 0 };
  const run = async () => {
    position = await sweepOrphans(database, newWrite, position);
  };
  const logFailure = (error: unknown) => log.warn({ err: error }, "rows that belong to no image could not be deleted");
  return every(limits.imageScanMs, run, { logFailure, signal: draining });
}
