// Says since when uses of images are known, and why not longer.
import { failedPrecondition } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { type Coverage, findCoverage, type RegistryKind } from "../../../storage/registry/use-coverage.ts";
import type { RepoRange } from "../../../storage/registry/use-queries.ts";

/** How many tags of an image a response names. */
export const shownTags = 20;

/** A coverage, and its field in a response. */
interface ShownCoverage extends Coverage {
  readonly shown: { readonly coverageStartTime?: ReturnType<typeof toTimestamp> };
}

/** Returns the range of a repo, or of all repos in and below a group. */
export function repoRange(uid: string): RepoRange {
  // `0` follows `/` in byte order.
  return { from: uid, to: `${uid}0` };
}

/** Returns since when all uses in some ranges are known. Older uses than the retention are deleted. */
export async function coverageOf(
  session: Session,
  { clock, settings: { usesKeptMs } }: Pick<ServiceContext, "clock" | "settings">,
  ranges: readonly RepoRange[],
): Promise<ShownCoverage> {
  const none = { start: undefined, silent: undefined };
  const found = usesKeptMs === 0 ? none : await findCoverage(session, ranges);
  if (found.start === undefined) return { ...found, shown: {} };
  const start = Math.max(found.start, clock() - usesKeptMs);
  return { ...found, start, shown: { coverageStartTime: toTimestamp(start) } };
}

/** Throws USES_INCOMPLETE unless all uses since a time are known. */
export function requireCoverage({ start, silent }: Coverage, since: number, usesKeptMs: number): void {
  if (start !== undefined && start <= since) return;
  const description = `${reasonOf({ start, silent }, usesKeptMs)}; with accept_incomplete, images are listed that may be in use`;
  throw failedPrecondition("USES_INCOMPLETE", description);
}

function reasonOf({ start, silent }: Coverage, usesKeptMs: number): string {
  if (start !== undefined) return `uses are known since ${new Date(start).toISOString()} only`;
  if (usesKeptMs === 0) return "no uses are recorded (--uses-kept 0)";
  if (silent && neverNotify.has(silent))
    return `the registry of some of these repos is ${silent}, which does not notify of pulls`;
  return "the registry has not notified of a use yet";
}

/** The kinds of registries that send pushes only. */
const neverNotify: ReadonlySet<RegistryKind> = new Set(["zot", "azure"]);
