// Limits how much of one kind of work runs at a time, of one organization and of all.
import { rateLimited } from "../aip/errors.ts";

/** The limits of work that runs at a time. */
export interface SlotLimits {
  readonly all: number;
  readonly ofOrganization: number;
}

/** Takes a slot for an organization, and returns its release. Throws RESOURCE_EXHAUSTED with RetryInfo if there is none. */
export type TakeSlot = (organization: string) => () => void;

/** Makes the slots. Who gets none is told the description, and to wait `retryMs` milliseconds. */
export function newSlots({ all, ofOrganization }: SlotLimits, description: string, retryMs: number): TakeSlot {
  const running: { readonly organization: string }[] = [];
  return (organization) => {
    const own = running.filter((each) => each.organization === organization);
    if (running.length >= all || own.length >= ofOrganization) throw rateLimited(description, retryMs);
    const slot = { organization };
    running.push(slot);
    return () => {
      const place = running.indexOf(slot);
      if (place >= 0) running.splice(place, 1);
    };
  };
}
