import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, textIn } from "../../routes.ts";

/** What stands in the address of the audit log. */
export interface AuditSearch {
  /** The filter as it was typed: `kind:groups actor:UID …`. */
  readonly q?: string;
  readonly clock?: "utc";
}

export const auditRoute = createRoute({
  getParentRoute: () => organization,
  path: "/audit",
  validateSearch: (search: Record<string, unknown>): AuditSearch => ({
    ...textIn(search, "q"),
    ...choiceIn(search, "clock", ["utc"]),
  }),
  component: lazyView(["audit"], () => import("./audit.tsx"), "Audit"),
});
