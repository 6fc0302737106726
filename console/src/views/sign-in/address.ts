import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The parts of the view. Identity providers have no tab in the address. */
export const tabs = ["invites", "accounts"] as const;

const dialogs = ["new", "edit", "delete", "mapping", "unmap", "scim-replace", "scim-revoke", "check"] as const;

/** The search part of the address of how people and clouds sign in. */
export interface SignInSearch {
  readonly tab?: (typeof tabs)[number];
  readonly page?: number;
  readonly order?: string;
  /** The address that a new invite begins with. */
  readonly email?: string;
  /** The group mapping that a dialog is about. */
  readonly mapping?: string;
  readonly dialog?: (typeof dialogs)[number];
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): SignInSearch {
  return {
    ...choiceIn(search, "tab", tabs),
    ...pageIn(search),
    ...orderIn(search, ["name", "create_time"]),
    ...textIn(search, "email"),
    ...textIn(search, "mapping"),
    ...choiceIn(search, "dialog", dialogs),
  };
}

const route = getRouteApi("/o/$org/sign-in/$");

/** Returns the address of the view; a change closes the dialog. */
export function useSignInAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, mapping: _mapping, email: _email, ...kept }) => kept });
}
