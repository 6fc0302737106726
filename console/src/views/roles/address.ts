import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useOrganizationUid } from "../../shell/organization.tsx";
import type { RoleSearch } from "./route.ts";

/** The selected role and what else is in the address. */
export function useRoleAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const selected = useParams({ strict: false })._splat ?? "";
  const search = useSearch({ strict: false }) as RoleSearch;
  const open = (uid: string, changes: { readonly [Name in keyof RoleSearch]?: RoleSearch[Name] | undefined } = {}) => {
    const { filter, kind } = search;
    const kept = uid === selected ? search : { filter, kind };
    const next = Object.entries({ ...kept, ...changes }).filter(([, value]) => value !== undefined);
    return navigate({ to: "/o/$org/roles/$", params: { org, _splat: uid }, search: Object.fromEntries(next) });
  };
  return { org, selected, search, open, close: () => open(selected, { dialog: undefined }) };
}
