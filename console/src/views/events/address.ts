import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useOrganizationUid } from "../../shell/organization.tsx";
import type { EventsSearch } from "./route.ts";

/** The selected subscription and what else is in the address. */
export function useEventsAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const selected = useParams({ strict: false })._splat ?? "";
  const search = useSearch({ strict: false }) as EventsSearch;
  const open = (
    uid: string,
    changes: { readonly [Name in keyof EventsSearch]?: EventsSearch[Name] | undefined } = {},
  ) => {
    const { page } = search;
    const next = Object.entries({ page, ...changes }).filter(([, value]) => value !== undefined);
    return navigate({ to: "/o/$org/events/$", params: { org, _splat: uid }, search: Object.fromEntries(next) });
  };
  return { org, selected, search, open, close: () => open(selected) };
}
