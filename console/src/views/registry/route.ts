import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const registryRoute = createRoute({
  getParentRoute: () => organization,
  path: "/registry/$",
  validateSearch,
  component: lazyView(["registry"], () => import("./registry.tsx"), "Registry"),
});
