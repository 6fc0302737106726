import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The search part of the address of the events. */
export interface EventsSearch {
  readonly page?: number;
  readonly order?: string;
  readonly dialog?: "new" | "edit" | "delete";
  /** The uid of the attempt in the side panel. */
  readonly attempt?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): EventsSearch {
  return {
    ...pageIn(search),
    ...orderIn(search, ["name"]),
    ...choiceIn(search, "dialog", ["new", "edit", "delete"]),
    ...textIn(search, "attempt"),
  };
}

const route = getRouteApi("/o/$org/events/$");

/** Returns the address of the events; a change closes the dialog. */
export function useEventsAddress() {
  return useAddress(route, { keep: ({ page, order }) => ({ page, order }) });
}
