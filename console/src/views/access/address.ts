import { useNavigate, useSearch } from "@tanstack/react-router";
import { useOrganizationUid } from "../../shell/organization.tsx";
import type { AccessSearch } from "./route.ts";

/** Changes of an address: undefined removes a part. */
export type Changes = { readonly [Name in keyof AccessSearch]?: AccessSearch[Name] | undefined };

/** What is in the address, and how to change it. */
export function useAccessAddress() {
  const navigate = useNavigate();
  const org = useOrganizationUid();
  const search = useSearch({ strict: false }) as AccessSearch;
  const group = search.group ?? org;
  const set = (changes: Changes) => {
    const next = Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined);
    return navigate({ to: "/o/$org/access", params: { org }, search: Object.fromEntries(next) });
  };
  /** Asks something else: the page and the open cell belong to the question before. */
  const ask = (changes: Changes) => set({ page: undefined, cell: undefined, area: undefined, ...changes });
  const closed = { dialog: undefined, binding: undefined, cell: undefined, area: undefined };
  return { org, group, search, set, ask, close: () => set(closed) };
}
