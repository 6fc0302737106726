import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../routes.ts";

/** What stands in the address of the registry, besides the selected repo. */
export interface RegistrySearch {
  readonly filter?: string;
  /** The page of the repos, or of the tags of the selected repo. */
  readonly page?: number;
  /** Whether tags that end in a date or an epoch are listed, too. */
  readonly tags?: "all";
  /** The tag whose history is shown. */
  readonly history?: string;
  readonly dialog?: "new" | "edit" | "readme" | "delete" | "pull-token";
}

export const registryRoute = createRoute({
  getParentRoute: () => organization,
  path: "/registry/$",
  validateSearch: (search: Record<string, unknown>): RegistrySearch => ({
    ...textIn(search, "filter"),
    ...pageIn(search),
    ...choiceIn(search, "tags", ["all"]),
    ...textIn(search, "history"),
    ...choiceIn(search, "dialog", ["new", "edit", "readme", "delete", "pull-token"]),
  }),
  component: lazyView(["registry"], () => import("./registry.tsx"), "Registry"),
});
