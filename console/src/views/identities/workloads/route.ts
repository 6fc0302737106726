import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../../routes.ts";

/** What stands in the address of the identities of workloads, besides the selected one. */
export interface WorkloadSearch {
  readonly name?: string;
  readonly issuer?: string;
  readonly type?: "claimMatch" | "staticKeys" | "awsIdentity" | "servicePrincipal";
  /** Identities that were never used, or not for a while. */
  readonly used?: "never" | "30d" | "90d";
  /** Identities whose keys end soon, or have ended. */
  readonly ends?: "14d" | "ended";
  readonly group?: string;
  readonly page?: number;
  readonly dialog?: "new" | "edit" | "delete" | "try";
}

export const workloadsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/identities/$",
  validateSearch: (search: Record<string, unknown>): WorkloadSearch => ({
    ...textIn(search, "name"),
    ...textIn(search, "issuer"),
    ...choiceIn(search, "type", ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"]),
    ...choiceIn(search, "used", ["never", "30d", "90d"]),
    ...choiceIn(search, "ends", ["14d", "ended"]),
    ...textIn(search, "group"),
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["new", "edit", "delete", "try"]),
  }),
  component: lazyView(["identities", "workloads"], () => import("./workloads.tsx"), "Workloads"),
});
