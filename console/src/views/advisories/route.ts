import { createRoute } from "@tanstack/react-router";
import { choiceIn, lazyView, organization, pageIn, textIn } from "../../routes.ts";

/** The statuses, in the order of their numbers in EventTypeFilter, from 1. */
export const statuses = [
  "detected",
  "affected",
  "fixed",
  "notAffected",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstream",
  "patched",
] as const;

const dialogs = ["new", "edit", "delete", "event", "review"] as const;

/** What stands in the address of the advisories, besides the selected one. */
export interface AdvisorySearch {
  readonly q?: string;
  readonly status?: (typeof statuses)[number];
  readonly package?: string;
  readonly type?: string;
  readonly component?: string;
  readonly reviewer?: string;
  readonly alias?: string;
  readonly page?: number;
  readonly dialog?: (typeof dialogs)[number];
  /** The event that a dialog is about. */
  readonly event?: string;
}

export const advisoriesRoute = createRoute({
  getParentRoute: () => organization,
  path: "/advisories/$",
  validateSearch: (search: Record<string, unknown>): AdvisorySearch => ({
    ...textIn(search, "q"),
    ...choiceIn(search, "status", statuses),
    ...textIn(search, "package"),
    ...textIn(search, "type"),
    ...textIn(search, "component"),
    ...textIn(search, "reviewer"),
    ...textIn(search, "alias"),
    ...pageIn(search),
    ...choiceIn(search, "dialog", dialogs),
    ...textIn(search, "event"),
  }),
  component: lazyView(["advisories"], () => import("./advisories.tsx"), "Advisories"),
});
