import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const rolesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/roles/$",
  validateSearch,
  component: lazyView(["roles", "capabilities"], () => import("./roles.tsx"), "Roles"),
});
