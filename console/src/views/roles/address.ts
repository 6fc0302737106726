import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The search part of the address of the roles. */
export interface RoleSearch {
  readonly filter?: string;
  readonly kind?: "own" | "builtIn";
  readonly order?: string;
  /** A role to compare with. */
  readonly compare?: string;
  /** The page of the bindings of the selected role. */
  readonly page?: number;
  readonly dialog?: "new" | "edit" | "delete";
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): RoleSearch {
  return {
    ...textIn(search, "filter"),
    ...choiceIn(search, "kind", ["own", "builtIn"]),
    ...orderIn(search, ["name", "capabilities"]),
    ...textIn(search, "compare"),
    ...pageIn(search),
    ...choiceIn(search, "dialog", ["new", "edit", "delete"]),
  };
}

const route = getRouteApi("/o/$org/roles/$");

/** Returns the address of the roles; the comparison and the page are of the selected role. */
export function useRoleAddress() {
  return useAddress(route, {
    keep: ({ dialog: _dialog, ...kept }, isSame) =>
      isSame ? kept : { filter: kept.filter, kind: kept.kind, order: kept.order },
  });
}
