import { createRoute } from "@tanstack/react-router";
import { lazyView, root } from "../../shell/routes.ts";

export const meRoute = createRoute({
  getParentRoute: () => root,
  path: "/me",
  component: lazyView(["me", "requests"], () => import("./me.tsx"), "Me"),
});
