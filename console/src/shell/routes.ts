// The parents of the routes of all views, and the function that loads a view.
import { createRootRoute, createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { Catalogue } from "../texts/catalogues.ts";
import { loadTexts } from "../texts/texts.ts";
import { OrganizationLayout } from "./organization-layout.tsx";
import { NotFound, Shell } from "./shell.tsx";

/** The parent of all routes. */
export const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** The parent of the views of an organization. */
export const organization = createRoute({ getParentRoute: () => root, path: "/o/$org", component: OrganizationLayout });

/** Returns a component that is loaded when its address is opened first, with its texts and those of shared parts that it uses. */
export function lazyView<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  catalogues: readonly Catalogue[],
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    const [module] = await Promise.all([load(), ...catalogues.map(loadTexts)]);
    return module as Record<Name, () => React.JSX.Element>;
  }, name);
}
