import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn } from "../../routes.ts";

/** What stands in the address of the events, besides the selected subscription. */
export interface EventsSearch {
  readonly page?: number;
  readonly dialog?: "new" | "delete";
}

export const eventsRoute = createRoute({
  getParentRoute: () => organization,
  path: "/events/$",
  validateSearch: (search: Record<string, unknown>): EventsSearch => ({
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["new", "delete"]),
  }),
  component: lazyView(["events"], () => import("./events.tsx"), "Events"),
});
