import { createRoute } from "@tanstack/react-router";
import { lazyView, organization } from "../../shell/routes.ts";
import { validateSearch } from "./address.ts";

export const auditRoute = createRoute({
  getParentRoute: () => organization,
  path: "/audit",
  validateSearch,
  component: lazyView(["audit"], () => import("./audit.tsx"), "Audit"),
});
