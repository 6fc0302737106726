import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, pageIn, textIn, useAddress } from "../../shell/address.ts";

/** The parts of an image, without its findings. */
const imageParts = ["packages", "sboms"] as const;

/** The severities, in the order of their numbers in VulnerabilitySeverity, from 1. */
export const severities = ["low", "medium", "high", "critical"] as const;

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
  /** The digest of the image that is shown in place of the tags. */
  readonly image?: string;
  /** The part of the image that is shown: its findings without a value. */
  readonly part?: (typeof imageParts)[number];
  /** The lowest severity of the findings that are shown. */
  readonly least?: (typeof severities)[number];
  /** Whether only findings with a fixed version are shown. */
  readonly fixed?: "known";
  /** Whether findings that are fixed, or do not affect the image, are shown, too. */
  readonly settled?: "too";
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
    ...textIn(search, "image"),
    ...choiceIn(search, "part", imageParts),
    ...choiceIn(search, "least", severities),
    ...choiceIn(search, "fixed", ["known"]),
    ...choiceIn(search, "settled", ["too"]),
    ...choiceIn(search, "dialog", ["new", "edit", "readme", "delete", "pull-token"]),
  };
}

const route = getRouteApi("/o/$org/registry/$");

/** Returns the address of the registry; filter, page and history are those of the selected repo. */
export function useRegistryAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, ...kept }, isSame) => (isSame ? kept : {}) });
}
