// The addresses of the console. Each view has its route in its folder, and is loaded when it is opened first.
import { createRoute, createRouter } from "@tanstack/react-router";
import { organization, root } from "./shell/routes.ts";
import { Home } from "./shell/shell.tsx";
import { accessRoute } from "./views/access/route.ts";
import { advisoriesRoute } from "./views/advisories/route.ts";
import { auditRoute } from "./views/audit/route.ts";
import { eventsRoute } from "./views/events/route.ts";
import { groupsRoute } from "./views/groups/route.ts";
import { identitiesRoute } from "./views/identities/route.ts";
import { meRoute } from "./views/me/route.ts";
import { operateRoute } from "./views/operate/route.ts";
import { overviewRoute } from "./views/overview/route.ts";
import { registryRoute } from "./views/registry/route.ts";
import { rolesRoute } from "./views/roles/route.ts";

const home = createRoute({ getParentRoute: () => root, path: "/", component: Home });

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
      identitiesRoute,
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
