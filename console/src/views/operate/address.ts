// The address of the view: the page of the sessions, and the dialog that is open.
import { getRouteApi } from "@tanstack/react-router";
import type { dialogs } from "./route.ts";

const route = getRouteApi("/operate");

/** Returns what stands in the address, and how to change it. */
export function useOperateAddress() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const page = search.page === undefined ? {} : { page: search.page };
  return {
    search,
    turn: (next: number | undefined) => void navigate({ search: next === undefined ? {} : { page: next } }),
    open: (dialog: (typeof dialogs)[number], id = "") =>
      void navigate({ search: { ...page, dialog, ...(id !== "" && { id }) } }),
    close: () => void navigate({ search: page }),
  };
}
