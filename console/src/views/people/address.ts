import { getRouteApi } from "@tanstack/react-router";
import { orderIn, textIn, useAddress } from "../../shell/address.ts";
import { type BindingSearch, bindingIn } from "../../shell/binding-address.ts";
import { type ProfileSearch, profileIn } from "../../shell/profile/address.ts";

/** The search part of the address of the people, and of the page of one of them. */
export interface PeopleSearch extends BindingSearch, ProfileSearch {
  readonly filter?: string;
  readonly group?: string;
  readonly order?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): PeopleSearch {
  return {
    ...textIn(search, "filter"),
    ...textIn(search, "group"),
    ...orderIn(search, ["name"]),
    ...bindingIn(search),
    ...profileIn(search),
  };
}

const route = getRouteApi("/o/$org/people/$");

/** Returns the address of the people; a change closes the dialog. */
export function usePeopleAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, binding: _binding, ...kept }) => kept });
}
