import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const identitiesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/identities/$",
  validateSearch,
  component: lazyView(
    ["identities", "people", "capabilities", "delegations"],
    () => import("./identities.tsx"),
    "Identities",
  ),
});
