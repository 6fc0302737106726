// Limits concurrent exports: each reads all advisories of a group.
import { rateLimited } from "../aip/errors.ts";

/** The limits of concurrent exports. */
export interface ExportLimits {
  readonly exports: number;
  readonly exportsOfOrganization: number;
  /** Of those, exports with all advisories in memory. */
  readonly gatheredExports: number;
}

/** The retry delay that clients are told, in milliseconds. */
const retryMs = 5_000;

/** Takes a slot for an export of an organization, and returns its release. Throws RESOURCE_EXHAUSTED if there is none. */
export type TakeSlot = (organization: string, isGathered: boolean) => () => void;

/** Makes the slots. */
export function newExportSlots({ exports, exportsOfOrganization, gatheredExports }: ExportLimits): TakeSlot {
  const running: { readonly organization: string; readonly isGathered: boolean }[] = [];
  return (organization, isGathered) => {
    const own = running.filter((each) => each.organization === organization);
    const gathered = running.filter((each) => each.isGathered);
    const isFull =
      running.length >= exports ||
      own.length >= exportsOfOrganization ||
      (isGathered && gathered.length >= gatheredExports);
    if (isFull) throw rateLimited("too many exports are being sent at once; try again later", retryMs);
    const slot = { organization, isGathered };
    running.push(slot);
    return () => {
      const place = running.indexOf(slot);
      if (place >= 0) running.splice(place, 1);
    };
  };
}
