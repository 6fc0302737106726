import { getRouteApi } from "@tanstack/react-router";
import type { EventTypeFilter } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { AdvisorySeverity } from "../../../../gen/gatehouse/vulnerabilities/v1/search_pb.ts";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

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

/** The severities, in the order of their numbers in AdvisorySeverity, from 1. */
export const severities = ["critical", "high", "medium", "low", "none"] as const;

const dialogs = ["new", "edit", "delete", "event", "review"] as const;

/** The search part of the address of the advisories. */
export interface AdvisorySearch {
  readonly q?: string;
  readonly status?: (typeof statuses)[number];
  readonly severity?: (typeof severities)[number];
  readonly order?: string;
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

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): AdvisorySearch {
  return {
    ...textIn(search, "q"),
    ...choiceIn(search, "status", statuses),
    ...choiceIn(search, "severity", severities),
    ...orderIn(search, ["score", "published", "changed", "package"]),
    ...textIn(search, "package"),
    ...textIn(search, "type"),
    ...textIn(search, "component"),
    ...textIn(search, "reviewer"),
    ...textIn(search, "alias"),
    ...pageIn(search),
    ...choiceIn(search, "dialog", dialogs),
    ...textIn(search, "event"),
  };
}

const route = getRouteApi("/o/$org/advisories/$");

/** Returns the address of the advisories; a change closes the dialog. */
export function useAdvisoryAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, event: _event, ...kept }) => kept });
}

/** Returns the filters of an address, as the search and the counts of advisories take them. */
export function requestOf(org: string, search: AdvisorySearch) {
  const { severity } = search;
  const chosen = severity === undefined ? [] : [(severities.indexOf(severity) + 1) as AdvisorySeverity];
  return { list: listOf(org, search), severities: chosen };
}

function listOf(org: string, { q, status, type, component, reviewer, alias, ...search }: AdvisorySearch) {
  return {
    uidp: { descendantsOf: org },
    query: q ?? "",
    ...(status !== undefined && { latestEventType: (statuses.indexOf(status) + 1) as EventTypeFilter }),
    artifactNames: valuesOf(search.package),
    artifactTypes: valuesOf(type),
    componentTypes: valuesOf(component),
    eventReviewers: valuesOf(reviewer),
    aliases: valuesOf(alias),
  };
}

function valuesOf(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}
