import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, textIn, useAddress } from "../../shell/address.ts";

/** The search part of the address of the groups. */
export interface GroupSearch {
  readonly filter?: string;
  readonly dialog?: "new" | "edit" | "delete";
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): GroupSearch {
  return {
    ...textIn(search, "filter"),
    ...choiceIn(search, "dialog", ["new", "edit", "delete"]),
  };
}

const route = getRouteApi("/o/$org/groups/$");

/** Returns the address of the groups; a change closes the dialog. */
export function useGroupAddress() {
  return useAddress(route, { keep: ({ filter }) => ({ filter }) });
}
