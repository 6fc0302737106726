// How many exports are sent at once: each reads all advisories of a group.
import { rateLimited } from "../aip/errors.ts";

/** The most exports at once. */
export interface ExportLimits {
  readonly exports: number;
  readonly exportsOfOrganization: number;
  /** Of those, the ones that have all advisories in memory. */
  readonly gatheredExports: number;
}

/** When a client is asked to try again, in milliseconds. */
const retryMs = 5_000;

/** Takes a slot for an export of an organization, and returns what releases it. Throws RESOURCE_EXHAUSTED when there is none. */
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
