import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const peopleRoute = createRoute({
  getParentRoute: () => organization,
  path: "/people/$",
  validateSearch,
  component: lazyView(["people", "profile", "access", "capabilities"], () => import("./people-view.tsx"), "PeopleView"),
});
