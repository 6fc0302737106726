import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const overviewRoute = createRoute({
  getParentRoute: () => organization,
  path: "/overview",
  validateSearch,
  component: lazyView(["overview", "events", "delegations"], () => import("./overview.tsx"), "Overview"),
});
