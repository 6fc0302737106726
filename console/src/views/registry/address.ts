import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The search part of the address of the registry. */
export interface RegistrySearch {
  readonly filter?: string;
  /** The page of the repos, or of the tags of the selected repo. */
  readonly page?: number;
  /** The order of the repos, or of the tags of the selected repo. */
  readonly order?: string;
  /** Whether tags that end in a date or an epoch are listed, too. */
  readonly tags?: "all";
  /** The tag whose history is shown. */
  readonly history?: string;
  readonly dialog?: "new" | "edit" | "readme" | "delete" | "pull-token";
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): RegistrySearch {
  return {
    ...textIn(search, "filter"),
    ...pageIn(search),
    ...orderIn(search, ["name", "create_time", "update_time"]),
    ...choiceIn(search, "tags", ["all"]),
    ...textIn(search, "history"),
    ...choiceIn(search, "dialog", ["new", "edit", "readme", "delete", "pull-token"]),
  };
}

const route = getRouteApi("/o/$org/registry/$");

/** Returns the address of the registry; filter, page and history are those of the selected repo. */
export function useRegistryAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, ...kept }, isSame) => (isSame ? kept : {}) });
}
