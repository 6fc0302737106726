import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../routes.ts";

/** What stands in the address of the roles, besides the selected one. */
export interface RoleSearch {
  readonly filter?: string;
  readonly kind?: "own" | "builtIn";
  /** A role to compare with. */
  readonly compare?: string;
  /** The page of the bindings of the selected role. */
  readonly page?: number;
  readonly dialog?: "new" | "edit" | "delete";
}

export const rolesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/roles/$",
  validateSearch: (search: Record<string, unknown>): RoleSearch => ({
    ...textIn(search, "filter"),
    ...choiceIn(search, "kind", ["own", "builtIn"]),
    ...textIn(search, "compare"),
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["new", "edit", "delete"]),
  }),
  component: lazyView(["roles", "capabilities"], () => import("./roles.tsx"), "Roles"),
});
