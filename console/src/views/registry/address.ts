import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useOrganizationUid } from "../../shell/organization.tsx";
import type { RegistrySearch } from "./route.ts";

type Changes = { readonly [Name in keyof RegistrySearch]?: RegistrySearch[Name] | undefined };

/** The selected repo and what else is in the address. */
export function useRegistryAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const selected = useParams({ strict: false })._splat ?? "";
  const search = useSearch({ strict: false }) as RegistrySearch;
  const open = (uid: string, changes: Changes = {}) => {
    const kept = uid === selected ? search : {};
    const next = Object.entries({ ...kept, dialog: undefined, ...changes }).filter(([, value]) => value !== undefined);
    return navigate({ to: "/o/$org/registry/$", params: { org, _splat: uid }, search: Object.fromEntries(next) });
  };
  return { org, selected, search, open, close: () => open(selected) };
}
