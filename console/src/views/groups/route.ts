import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, textIn } from "../../routes.ts";

/** What stands in the address of the groups, besides the selected one. */
export interface GroupSearch {
  readonly filter?: string;
  readonly dialog?: "new" | "edit" | "delete";
}

export const groupsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/groups/$",
  validateSearch: (search: Record<string, unknown>): GroupSearch => ({
    ...textIn(search, "filter"),
    ...choiceIn(search, "dialog", ["new", "edit", "delete"]),
  }),
  component: lazyView(["groups"], () => import("./groups.tsx"), "Groups"),
});
