import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { EventTypeFilter } from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { useOrganizationUid } from "../../shell/organization.tsx";
import { type AdvisorySearch, statuses } from "./route.ts";

type Changes = { readonly [Name in keyof AdvisorySearch]?: AdvisorySearch[Name] | undefined };

/** The selected advisory, the filters, and the list that they ask for. */
export function useAdvisoryAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const selected = useParams({ strict: false })._splat ?? "";
  const search = useSearch({ strict: false }) as AdvisorySearch;
  const open = (uid: string, changes: Changes = {}) => {
    const next = Object.entries({ ...search, dialog: undefined, event: undefined, ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    return navigate({ to: "/o/$org/advisories/$", params: { org, _splat: uid }, search: Object.fromEntries(next) });
  };
  const show = (dialog: AdvisorySearch["dialog"], event?: string) => open(selected, { dialog, event });
  return { org, selected, search, open, show, close: () => open(selected) };
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
