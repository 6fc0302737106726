// What the routes of all views need: their parents, and how a view is loaded.
import { createRootRoute, createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { OrganizationLayout } from "./shell/organization-layout.tsx";
import { NotFound, Shell } from "./shell/shell.tsx";
import type { Catalogue } from "./texts/catalogues.ts";
import { loadTexts } from "./texts/texts.ts";

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

/** Returns a parameter of an address as an object that has it, or an empty one without a text. */
export function textIn<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): { readonly [N in Name]?: string } {
  const value = search[name];
  return typeof value === "string" && value !== "" ? ({ [name]: value } as { [N in Name]: string }) : {};
}

/** The same for a parameter with a fixed set of values. */
export function choiceIn<Name extends string, const Choice extends string>(
  search: Record<string, unknown>,
  name: Name,
  choices: readonly Choice[],
): { readonly [N in Name]?: Choice } {
  const found = choices.find((choice) => choice === search[name]);
  return found === undefined ? {} : ({ [name]: found } as { [N in Name]: Choice });
}

/** The number of a page of a list in an address: 2 and up. The first page is not in the address. */
export function pageIn(search: Record<string, unknown>): { readonly page?: number } {
  const page = Number(search.page);
  return Number.isSafeInteger(page) && page > 1 ? { page } : {};
}
