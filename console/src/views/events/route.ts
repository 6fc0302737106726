import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const eventsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/events/$",
  validateSearch,
  component: lazyView(["events"], () => import("./events.tsx"), "Events"),
});
