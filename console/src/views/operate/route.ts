import { createRoute } from "@tanstack/react-router";
import { lazyView, root } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const operateRoute = createRoute({
  getParentRoute: () => root,
  path: "/operate",
  validateSearch,
  component: lazyView(["operate"], () => import("./operate.tsx"), "Operate"),
});
