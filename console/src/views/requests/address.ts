import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The parts of the view. Requests that wait for a decision have no tab in the address. */
export const tabs = ["mine", "all", "rules"] as const;

/** The states by which all requests are filtered. */
export const stateFilters = ["pending", "active", "denied", "cancelled", "expired", "ended"] as const;

const dialogs = ["new", "edit", "delete", "approve", "deny", "acknowledge", "cancel", "end"] as const;

/** The search part of the address of access requests and their rules. The selected resource is a request, or a rule of the tab of rules. */
export interface RequestsSearch {
  readonly tab?: (typeof tabs)[number];
  readonly page?: number;
  readonly order?: string;
  readonly state?: (typeof stateFilters)[number];
  readonly dialog?: (typeof dialogs)[number];
  /** The request of the dialog. */
  readonly request?: string;
  /** The group and the role that a new request begins with. */
  readonly group?: string;
  readonly role?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): RequestsSearch {
  return {
    ...choiceIn(search, "tab", tabs),
    ...pageIn(search),
    ...orderIn(search, ["create_time", "name"]),
    ...choiceIn(search, "state", stateFilters),
    ...choiceIn(search, "dialog", dialogs),
    ...textIn(search, "request"),
    ...textIn(search, "group"),
    ...textIn(search, "role"),
  };
}

const route = getRouteApi("/o/$org/requests/$");

/** Returns the address of the view; a change closes the dialog. */
export function useRequestsAddress() {
  return useAddress(route, {
    keep: ({ dialog: _dialog, request: _request, group: _group, role: _role, ...kept }) => kept,
  });
}
