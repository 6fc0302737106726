import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../routes.ts";

export const overviewRoute = createRoute({
  getParentRoute: () => organization,
  path: "/overview",
  component: lazyView(["overview"], () => import("./overview.tsx"), "Overview"),
});
