import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const requestsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/requests/$",
  validateSearch,
  component: lazyView(["requests"], () => import("./requests.tsx"), "Requests"),
});
