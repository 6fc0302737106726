// Limits concurrent exports: each reads all advisories of a group.
import { newSlots } from "../pipeline/slots.ts";

/** The limits of concurrent exports. */
export interface ExportLimits {
  readonly exports: number;
  readonly exportsOfOrganization: number;
  /** Of those, exports with all advisories in memory. */
  readonly gatheredExports: number;
}

const busy = "too many exports are being sent at once; try again later";

/** The retry delay that clients are told, in milliseconds. */
const retryMs = 5_000;

/** Takes a slot for an export of an organization, and returns its release. Throws RESOURCE_EXHAUSTED if there is none. */
export type TakeExportSlot = (organization: string, isGathered: boolean) => () => void;

/** Makes the slots. */
export function newExportSlots({ exports, exportsOfOrganization, gatheredExports }: ExportLimits): TakeExportSlot {
  const takeAny = newSlots({ all: exports, ofOrganization: exportsOfOrganization }, busy, retryMs);
  const takeGathered = newSlots({ all: gatheredExports, ofOrganization: gatheredExports }, busy, retryMs);
  return (organization, isGathered) => {
    const releases = isGathered ? [takeGathered(organization)] : [];
    const release = () => {
      for (const each of releases) each();
    };
    try {
      releases.push(takeAny(organization));
    } catch (error) {
      release();
      throw error;
    }
    return release;
  };
}
