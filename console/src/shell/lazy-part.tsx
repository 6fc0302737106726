// Loads parts of a view when they are shown first: dialogs, and what stands behind another tab.
import { lazyRouteComponent } from "@tanstack/react-router";
import { type ComponentType, type ReactNode, Suspense } from "react";
import type { Catalogue } from "../texts/catalogues.ts";
import { loadTexts } from "../texts/texts.ts";

/**
 * Returns a component that is loaded when it is shown first. A page that is older than the server, which has other files by then, is
 * loaded again. `waiting` stands in its place meanwhile; a dialog needs nothing. `catalogue` has its texts, if its view does not load them.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ReactNode = null,
  catalogue?: Catalogue,
): ComponentType<Props> {
  const Part = lazyRouteComponent(async () => {
    const [component] = await Promise.all([load(), catalogue && loadTexts(catalogue)]);
    return { Part: component };
  }, "Part") as ComponentType<Props>;
  return (props) => (
    <Suspense fallback={waiting}>
      <Part {...props} />
    </Suspense>
  );
}
