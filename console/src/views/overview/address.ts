import { useNavigate, useSearch } from "@tanstack/react-router";
import { useOrganizationUid } from "../../shell/organization.tsx";
import type { OverviewSearch } from "./route.ts";

/** What is in the address, and how to change it. */
export function useOverviewAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const search = useSearch({ strict: false }) as OverviewSearch;
  const open = (next: OverviewSearch) => navigate({ to: "/o/$org/overview", params: { org }, search: next });
  const { dialog: _dialog, resource: _resource, ...kept } = search;
  return {
    org,
    search,
    open,
    show: (dialog: NonNullable<OverviewSearch["dialog"]>, resource: string) => open({ ...kept, dialog, resource }),
    close: () => open(kept),
  };
}
