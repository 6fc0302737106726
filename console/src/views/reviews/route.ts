import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const reviewsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/reviews/$",
  validateSearch,
  component: lazyView(["reviews"], () => import("./reviews-view.tsx"), "ReviewsView"),
});
