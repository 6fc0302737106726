import { getRouteApi } from "@tanstack/react-router";
import type { EventTypeFilter } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { choiceIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

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

/** The search part of the address of the advisories. */
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

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): AdvisorySearch {
  return {
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
  };
}

const route = getRouteApi("/o/$org/advisories/$");

/** Returns the address of the advisories; a change closes the dialog. */
export function useAdvisoryAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, event: _event, ...kept }) => kept });
}

/** Returns the request for the advisories that pass the filters of an address. */
export function requestOf(org: string, { q, status, type, component, reviewer, alias, ...search }: AdvisorySearch) {
  return {
    uidp: { descendantsOf: org },
    query: q ?? "",
    ...(status !== undefined && { latestEventType: (statuses.indexOf(status) + 1) as EventTypeFilter }),
    artifactNames: listOf(search.package),
    artifactTypes: listOf(type),
    componentTypes: listOf(component),
    eventReviewers: listOf(reviewer),
    aliases: listOf(alias),
  };
}

function listOf(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}
