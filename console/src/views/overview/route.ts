import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../routes.ts";

/** The kinds of findings, as they stand in the address. */
const findingNames = ["failing", "expiring", "inactive", "confined", "unused", "deactivated"] as const;

/** What stands in the address of the overview. */
export interface OverviewSearch {
  /** The kind of which all findings are shown. */
  readonly finding?: (typeof findingNames)[number];
  readonly page?: number;
  readonly dialog?: "revoke" | "confirm";
  /** The uid of the resource that the dialog is about. */
  readonly resource?: string;
}

export const overviewRoute = createRoute({
  getParentRoute: () => organization,
  path: "/overview",
  validateSearch: (search: Record<string, unknown>): OverviewSearch => ({
    ...choiceIn(search, "finding", findingNames),
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["revoke", "confirm"]),
    ...textIn(search, "resource"),
  }),
  component: lazyView(["overview", "events", "delegations"], () => import("./overview.tsx"), "Overview"),
});
