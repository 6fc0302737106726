import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const signInRoute = createRoute({
  getParentRoute: () => organization,
  path: "/sign-in/$",
  validateSearch,
  component: lazyView(["identities", "people", "capabilities"], () => import("./sign-in.tsx"), "SignIn"),
});
