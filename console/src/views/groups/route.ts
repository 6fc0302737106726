import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const groupsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/groups/$",
  validateSearch,
  component: lazyView(["groups"], () => import("./groups.tsx"), "Groups"),
});
