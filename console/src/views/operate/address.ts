import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The dialogs of the view. */
export const dialogs = ["rotate", "retire", "end"] as const;

/** The search part of the address of the view. */
export interface OperateSearch {
  /** The page of the sessions. */
  readonly page?: number;
  readonly dialog?: (typeof dialogs)[number];
  /** The id of the key or of the session that the dialog is about. */
  readonly id?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): OperateSearch {
  return {
    ...pageIn(search),
    ...choiceIn(search, "dialog", dialogs),
    ...textIn(search, "id"),
  };
}

const route = getRouteApi("/operate");

/** Returns the address of the view; a change closes the dialog. */
export function useOperateAddress() {
  return useAddress(route, { keep: ({ page }) => ({ page }) });
}
