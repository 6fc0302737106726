// The part of the address that the pages of people and workloads have in common.
import { choiceIn, pageIn, usePartOfAddress } from "../address.ts";

/** The tabs of the pages. The first, with the roles, is not in the address. */
export type ProfileTab = (typeof tabs)[number];

const tabs = ["activity", "credentials", "trust", "sessions", "delegations", "details"] as const;

/** That part of an address. */
export interface ProfileSearch {
  readonly tab?: ProfileTab;
  readonly page?: number;
}

/** Returns it. */
export function profileIn(search: Record<string, unknown>): ProfileSearch {
  return { ...choiceIn(search, "tab", tabs), ...pageIn(search) };
}

/** Returns the address of the page. */
export function useProfileAddress() {
  return usePartOfAddress(profileIn);
}
