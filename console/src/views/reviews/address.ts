import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The states by which reviews are filtered. */
export const stateFilters = ["open", "closed"] as const;

/** The decisions by which items are filtered. */
export const decisionFilters = ["pending", "confirmed", "revoked"] as const;

/** The search part of the address of the reviews, and of the page of one of them. */
export interface ReviewSearch {
  readonly state?: (typeof stateFilters)[number];
  readonly decision?: (typeof decisionFilters)[number];
  readonly order?: string;
  readonly page?: number;
  readonly dialog?: "new" | "close" | "confirm" | "revoke";
  /** The uid of the role binding that a dialog decides about. */
  readonly item?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): ReviewSearch {
  return {
    ...choiceIn(search, "state", stateFilters),
    ...choiceIn(search, "decision", decisionFilters),
    ...orderIn(search, ["title", "create_time"]),
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["new", "close", "confirm", "revoke"]),
    ...textIn(search, "item"),
  };
}

const route = getRouteApi("/o/$org/reviews/$");

/** Returns the address of the reviews; a change closes the dialog, and another review begins with its first page. */
export function useReviewAddress() {
  return useAddress(route, {
    keep: ({ dialog: _dialog, item: _item, ...kept }, isSame) => (isSame ? kept : {}),
  });
}
