import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const workloadsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/workloads/$",
  validateSearch,
  component: lazyView(
    ["identities", "capabilities", "delegations", "profile", "access"],
    () => import("./workloads-view.tsx"),
    "WorkloadsView",
  ),
});
