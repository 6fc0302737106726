import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const advisoriesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/advisories/$",
  validateSearch,
  component: lazyView(["advisories"], () => import("./advisories.tsx"), "Advisories"),
});
