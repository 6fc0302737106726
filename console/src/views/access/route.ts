import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const accessRoute = createRoute({
  getParentRoute: () => organization,
  path: "/access",
  validateSearch,
  component: lazyView(["access", "capabilities"], () => import("./access.tsx"), "Access"),
});
