import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The kinds of findings, as they stand in the address. */
const findingNames = [
  "breakGlass",
  "failing",
  "expiring",
  "inactive",
  "confined",
  "unused",
  "deactivated",
  "paused",
  "reused",
  "unpinned",
  "broad",
  "unusedBinding",
  "twin",
] as const;

/** The search part of the address of the overview. */
export interface OverviewSearch {
  /** The only kind of finding to show. */
  readonly finding?: (typeof findingNames)[number];
  readonly page?: number;
  readonly dialog?: "revoke" | "confirm";
  /** The uid of the resource that the dialog is about. */
  readonly resource?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): OverviewSearch {
  return {
    ...choiceIn(search, "finding", findingNames),
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["revoke", "confirm"]),
    ...textIn(search, "resource"),
  };
}

const route = getRouteApi("/o/$org/overview");

/** Returns the address of the overview; a change closes the dialog. */
export function useOverviewAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, resource: _resource, ...kept }) => kept });
}
