import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The parts of the view. Workloads have no tab in the address. */
export const tabs = ["people", "invites", "providers", "accounts"] as const;

const dialogs = [
  "new",
  "edit",
  "delete",
  "try",
  "claims",
  "mapping",
  "unmap",
  "scim-replace",
  "scim-revoke",
  "check",
] as const;

/** The search part of the address of the identities. */
export interface IdentitiesSearch {
  readonly tab?: (typeof tabs)[number];
  readonly filter?: string;
  /** A part of an issuer. */
  readonly issuer?: string;
  readonly type?: "claimMatch" | "staticKeys" | "aws" | "service";
  /** Identities that were never used, or not for so long. */
  readonly used?: "never" | "never7d" | "30d" | "90d";
  /** Identities whose keys end soon, or have ended. */
  readonly keys?: "14d" | "ended";
  readonly group?: string;
  readonly page?: number;
  /** The group mapping that a dialog is about. */
  readonly mapping?: string;
  readonly dialog?: (typeof dialogs)[number];
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): IdentitiesSearch {
  return {
    ...choiceIn(search, "tab", tabs),
    ...textIn(search, "filter"),
    ...textIn(search, "issuer"),
    ...choiceIn(search, "type", ["claimMatch", "staticKeys", "aws", "service"]),
    ...choiceIn(search, "used", ["never", "never7d", "30d", "90d"]),
    ...choiceIn(search, "keys", ["14d", "ended"]),
    ...textIn(search, "group"),
    ...pageIn(search),
    ...textIn(search, "mapping"),
    ...choiceIn(search, "dialog", dialogs),
  };
}

const route = getRouteApi("/o/$org/identities/$");

/** Returns the address of the identities; a change closes the dialog. */
export function useIdentitiesAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, mapping: _mapping, ...kept }) => kept });
}
