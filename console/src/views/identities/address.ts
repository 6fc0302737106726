import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useOrganizationUid } from "../../shell/organization.tsx";
import type { IdentitiesSearch } from "./route.ts";

type Changes = { readonly [Name in keyof IdentitiesSearch]?: IdentitiesSearch[Name] | undefined };

/** The selected resource and what else is in the address. */
export function useIdentitiesAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const selected = useParams({ strict: false })._splat ?? "";
  const search = useSearch({ strict: false }) as IdentitiesSearch;
  const open = (uid: string, changes: Changes = {}) => {
    const next = Object.entries({ ...search, dialog: undefined, mapping: undefined, ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    return navigate({ to: "/o/$org/identities/$", params: { org, _splat: uid }, search: Object.fromEntries(next) });
  };
  const show = (dialog: IdentitiesSearch["dialog"]) => open(selected, { dialog });
  return { org, selected, search, open, show, close: () => open(selected) };
}
