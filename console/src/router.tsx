// The addresses of the console. Each view has its route in its folder, and is loaded when it is opened first.
import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { organization, root } from "./shell/routes.ts";
import { Home } from "./shell/shell.tsx";
import { accessRoute } from "./views/access/route.ts";
import { advisoriesRoute } from "./views/advisories/route.ts";
import { auditRoute } from "./views/audit/route.ts";
import { eventsRoute } from "./views/events/route.ts";
import { groupsRoute } from "./views/groups/route.ts";
import { meRoute } from "./views/me/route.ts";
import { operateRoute } from "./views/operate/route.ts";
import { overviewRoute } from "./views/overview/route.ts";
import { peopleRoute } from "./views/people/route.ts";
import { registryRoute } from "./views/registry/route.ts";
import { requestsRoute } from "./views/requests/route.ts";
import { reviewsRoute } from "./views/reviews/route.ts";
import { rolesRoute } from "./views/roles/route.ts";
import { signInRoute } from "./views/sign-in/route.ts";
import { workloadsRoute } from "./views/workloads/route.ts";

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: Home,
  // Most people go on there.
  loader: () => void overviewRoute.options.component?.preload?.(),
});

/** People, workloads and sign-in were one view: links to it lead to the one that shows the same. */
const formerIdentitiesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/identities/$",
  beforeLoad({ params, search }) {
    const { tab, ...rest } = search as { readonly tab?: string };
    const view = tab === undefined ? "workloads" : tab === "people" ? "people" : "sign-in";
    const kept = tab === "invites" || tab === "accounts" ? { tab, ...rest } : rest;
    throw redirect({ to: `/o/$org/${view}/$`, params, search: kept, replace: true });
  },
});

/** The router. */
export const router = createRouter({
  routeTree: root.addChildren([
    home,
    meRoute,
    operateRoute,
    organization.addChildren([
      overviewRoute,
      groupsRoute,
      accessRoute,
      requestsRoute,
      reviewsRoute,
      peopleRoute,
      workloadsRoute,
      signInRoute,
      formerIdentitiesRoute,
      rolesRoute,
      registryRoute,
      advisoriesRoute,
      eventsRoute,
      auditRoute,
    ]),
  ]),
  basepath: "/console",
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
