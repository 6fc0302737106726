import { getRouteApi } from "@tanstack/react-router";
import { orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The search part of the address of the people. */
export interface PeopleSearch {
  readonly filter?: string;
  readonly group?: string;
  readonly page?: number;
  readonly order?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): PeopleSearch {
  return { ...textIn(search, "filter"), ...textIn(search, "group"), ...pageIn(search), ...orderIn(search, ["name"]) };
}

const route = getRouteApi("/o/$org/people/$");

/** Returns the address of the people. */
export function usePeopleAddress() {
  return useAddress(route, { keep: (kept) => kept });
}
