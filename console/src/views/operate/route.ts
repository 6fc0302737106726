import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, pageIn, root, textIn } from "../../routes.ts";

/** The dialogs of the view. */
export const dialogs = ["rotate", "retire", "end"] as const;

export const operateRoute = createRoute({
  getParentRoute: () => root,
  path: "/operate",
  validateSearch: (search: Record<string, unknown>) => ({
    ...pageIn(search),
    ...choiceIn(search, "dialog", dialogs),
    // The id of the key or of the session that the dialog is about.
    ...textIn(search, "id"),
  }),
  component: lazyView(["operate"], () => import("./operate.tsx"), "Operate"),
});
