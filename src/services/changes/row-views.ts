// The list: how the change log shows the rows of each kind. What is in none is not shown.
import type { Deps } from "../../resource/deps.ts";
import type { RowView } from "../../resource/logged-resource.ts";
import { subscriptionView } from "../events/subscription-events.ts";
import { accessViews } from "../iam/access-events.ts";
import { groupViews } from "../iam/group-events.ts";
import { providerViews } from "../iam/provider-events.ts";
import { registryViews } from "../registry/registry-events.ts";
import { advisoryView } from "../vulnerabilities/advisories.ts";

/** By kind. */
export function rowViews(deps: Deps): ReadonlyMap<string, RowView> {
  const views = [
    ...groupViews,
    ...accessViews,
    ...providerViews(deps),
    ...registryViews,
    subscriptionView,
    advisoryView,
  ];
  return new Map(views.map((view) => [view.kind, view]));
}
