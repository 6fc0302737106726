import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, textIn, useAddress } from "../../shell/address.ts";

/** The search part of the address of the audit log. */
export interface AuditSearch {
  /** The filter as it was typed: `kind:groups actor:UID …`. */
  readonly q?: string;
  readonly clock?: "utc";
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): AuditSearch {
  return {
    ...textIn(search, "q"),
    ...choiceIn(search, "clock", ["utc"]),
  };
}

const route = getRouteApi("/o/$org/audit");

/** Returns the address of the audit log. */
export function useAuditAddress() {
  return useAddress(route, { keep: (search) => search });
}
