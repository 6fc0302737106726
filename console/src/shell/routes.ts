// The parents of the routes of all views, and the function that loads a view.
import { createRootRoute, createRoute } from "@tanstack/react-router";
import { createElement } from "react";
import type { Catalogue } from "../texts/catalogues.ts";
import { lazyComponent } from "./lazy-part.tsx";
import { OrganizationLayout } from "./organization-layout.tsx";
import { Loading } from "./parts.tsx";
import { NoRoute, Shell } from "./shell.tsx";

/** The parent of all routes. */
export const root = createRootRoute({ component: Shell, notFoundComponent: NoRoute });

/** The parent of the views of an organization. */
export const organization = createRoute({ getParentRoute: () => root, path: "/o/$org", component: OrganizationLayout });

/** Returns a component that is loaded when its address is opened first, with its texts and those of shared parts that it uses. */
export function lazyView<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  catalogues: readonly Catalogue[],
  load: () => Promise<Module>,
  name: Name,
) {
  const loadView = async () => (await load())[name] as () => React.JSX.Element;
  return lazyComponent(loadView, catalogues, createElement(Loading), "view");
}
