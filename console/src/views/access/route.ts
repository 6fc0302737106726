import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../routes.ts";

/** What stands in the address of the access view. */
export interface AccessSearch {
  /** Which question is asked: who may do something here (the default), what may somebody do, why. */
  readonly tab?: "identity" | "ask";
  readonly group?: string;
  readonly capability?: string;
  readonly identity?: string;
  readonly confined?: "yes";
  readonly page?: number;
  /** The area of the cell that is explained, for `cell`. */
  readonly area?: string;
  /** The identity of the cell that is explained. */
  readonly cell?: string;
  readonly dialog?: "grant" | "change" | "revoke";
  /** The role binding of the dialog. */
  readonly binding?: string;
}

export const accessRoute = createRoute({
  getParentRoute: () => organization,
  path: "/access",
  validateSearch: (search: Record<string, unknown>): AccessSearch => ({
    ...choiceIn(search, "tab", ["identity", "ask"]),
    ...textIn(search, "group"),
    ...textIn(search, "capability"),
    ...textIn(search, "identity"),
    ...choiceIn(search, "confined", ["yes"]),
    ...pageIn(search),
    ...textIn(search, "area"),
    ...textIn(search, "cell"),
    ...choiceIn(search, "dialog", ["grant", "change", "revoke"]),
    ...textIn(search, "binding"),
  }),
  component: lazyView(["access", "capabilities"], () => import("./access.tsx"), "Access"),
});
