// Lists the views of all kinds of rows.
import type { RowView } from "../../resource/row-view.ts";
import { eventForm } from "../../resource/sentence-form.ts";
import { termsAcceptanceCollection } from "../../storage/iam/collections.ts";
import { accessRequests } from "../../storage/schema/access-requests.ts";
import { delegationView } from "../iam/delegations/delegations-service.ts";
import { membershipView } from "../iam/memberships/memberships.ts";
import { provisioningViews } from "../iam/provisioning/views.ts";
import { findingKind } from "../registry/contents/finding-events.ts";
import { type LoggedSbom, sbomKind } from "../registry/contents/uploads.ts";
import { pushKind } from "../registry/pushes.ts";
import { recordedKinds } from "../resources.ts";
import { accessEntryViews } from "./access-entry-views.ts";

/** The kinds whose changes are in the log without their content, which is not for everybody who may read that they happened. */
const contentless: readonly RowView[] = [
  { kind: termsAcceptanceCollection.kind, show: () => ({}) },
  { kind: pushKind, show: () => ({}), sentence: eventForm("pushed") },
  { kind: findingKind, show: () => ({}), sentence: eventForm("changed") },
  { kind: accessRequests, show: () => ({}), sentence: eventForm("asked") },
];

/** Uploaded SBOMs, by repo. */
const sbomView: RowView = { kind: sbomKind, show: (row) => ({ ...(row as LoggedSbom) }) };

/** By kind. */
export const rowViews: ReadonlyMap<string, RowView> = new Map(
  [
    ...accessEntryViews,
    ...provisioningViews,
    ...recordedKinds.flatMap(({ views }) => views),
    delegationView,
    membershipView,
    ...contentless,
    sbomView,
  ].map((view: RowView) => [view.kind, view]),
);
