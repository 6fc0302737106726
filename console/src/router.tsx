// The addresses of the console. Each view is loaded when it is opened first.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { OrganizationLayout } from "./shell/organization.tsx";
import { Home, NotFound, Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const home = createRoute({ getParentRoute: () => root, path: "/", component: Home });
const me = createRoute({
  getParentRoute: () => root,
  path: "/me",
  component: lazyRouteComponent(() => import("./views/me/me.tsx"), "Me"),
});
const organization = createRoute({ getParentRoute: () => root, path: "/o/$org", component: OrganizationLayout });
const overview = createRoute({
  getParentRoute: () => organization,
  path: "/overview",
  component: lazyRouteComponent(() => import("./views/overview/overview.tsx"), "Overview"),
});

/** What stands in the address of the groups, besides the selected one. */
export interface GroupSearch {
  readonly filter?: string;
  readonly dialog?: "new" | "edit" | "delete";
}

const dialogs: readonly unknown[] = ["new", "edit", "delete"];

function parseGroupSearch(search: Record<string, unknown>): GroupSearch {
  return {
    ...(typeof search.filter === "string" && search.filter !== "" && { filter: search.filter }),
    ...(dialogs.includes(search.dialog) && { dialog: search.dialog as "new" }),
  };
}

const groups = createRoute({
  getParentRoute: () => organization,
  path: "/groups/$",
  validateSearch: parseGroupSearch,
  component: lazyRouteComponent(() => import("./views/groups/groups.tsx"), "Groups"),
});

/** The router. */
export const router = createRouter({
  routeTree: root.addChildren([home, me, organization.addChildren([overview, groups])]),
  basepath: "/console",
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
