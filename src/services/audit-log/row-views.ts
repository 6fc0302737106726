// Lists the views of all kinds of rows. Kinds without a view are not shown in the audit log.
import type { RowView } from "../../resource/row-view.ts";
import { subscriptionView } from "../events/subscription-events.ts";
import { delegationView } from "../iam/delegations/delegations-service.ts";
import { accessViews } from "../iam/events/access-events.ts";
import { groupViews } from "../iam/events/group-events.ts";
import { providerViews } from "../iam/events/provider-events.ts";
import { membershipView } from "../iam/memberships/memberships.ts";
import { provisioningViews } from "../iam/provisioning/views.ts";
import { registryViews } from "../registry/registry-events.ts";
import { advisoryView } from "../vulnerabilities/advisories/advisories.ts";
import { accessEntryViews } from "./access-entry-views.ts";

/** By kind. */
export const rowViews: ReadonlyMap<string, RowView> = new Map(
  [
    ...accessEntryViews,
    ...provisioningViews,
    ...groupViews,
    ...accessViews,
    ...providerViews,
    ...registryViews,
    delegationView,
    membershipView,
    subscriptionView,
    advisoryView,
  ].map((view: RowView) => [view.kind, view]),
);
