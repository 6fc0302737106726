import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../routes.ts";

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

/** What stands in the address of the identities, besides the selected one. */
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

export const identitiesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/identities/$",
  validateSearch: (search: Record<string, unknown>): IdentitiesSearch => ({
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
  }),
  component: lazyView(
    ["identities", "people", "capabilities", "delegations"],
    () => import("./identities.tsx"),
    "Identities",
  ),
});
