// Lists the views of all kinds of rows. Kinds without a view are not shown in the audit log.
import type { RowView } from "../../resource/row-view.ts";
import { delegationView } from "../iam/delegations/delegations-service.ts";
import { membershipView } from "../iam/memberships/memberships.ts";
import { provisioningViews } from "../iam/provisioning/views.ts";
import { recordedKinds } from "../resources.ts";
import { accessEntryViews } from "./access-entry-views.ts";

/** By kind. */
export const rowViews: ReadonlyMap<string, RowView> = new Map(
  [
    ...accessEntryViews,
    ...provisioningViews,
    ...recordedKinds.flatMap(({ views }) => views),
    delegationView,
    membershipView,
  ].map((view: RowView) => [view.kind, view]),
);
