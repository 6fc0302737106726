import { getRouteApi } from "@tanstack/react-router";
import { choiceIn, orderIn, textIn, useAddress } from "../../shell/address.ts";
import { type BindingSearch, bindingIn } from "../../shell/binding-address.ts";
import { type ProfileSearch, profileIn } from "../../shell/profile/address.ts";

/** The search part of the address of the workloads, and of the page of one of them. */
export interface WorkloadsSearch extends ProfileSearch {
  readonly filter?: string;
  /** A part of an issuer. */
  readonly issuer?: string;
  readonly type?: "claimMatch" | "staticKeys" | "aws" | "service";
  /** Identities that were never used, or not for so long. */
  readonly used?: "never" | "never7d" | "30d" | "90d";
  /** Identities whose keys end soon, or have ended. */
  readonly keys?: "14d" | "ended";
  readonly group?: string;
  readonly order?: string;
  readonly dialog?: "new" | "edit" | "delete" | "try" | "claims" | "clear" | NonNullable<BindingSearch["dialog"]>;
  /** The identity that the wizard of the dialog `new` has created. */
  readonly made?: string;
  /** The role binding of the dialog. */
  readonly binding?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): WorkloadsSearch {
  return {
    ...textIn(search, "filter"),
    ...textIn(search, "issuer"),
    ...choiceIn(search, "type", ["claimMatch", "staticKeys", "aws", "service"]),
    ...choiceIn(search, "used", ["never", "never7d", "30d", "90d"]),
    ...choiceIn(search, "keys", ["14d", "ended"]),
    ...textIn(search, "group"),
    ...textIn(search, "made"),
    ...orderIn(search, ["name", "create_time"]),
    ...profileIn(search),
    ...bindingIn(search),
    ...choiceIn(search, "dialog", ["new", "edit", "delete", "try", "claims", "clear"]),
  };
}

const route = getRouteApi("/o/$org/workloads/$");

/** Returns the address of the workloads; a change closes the dialog. */
export function useWorkloadsAddress() {
  return useAddress(route, { keep: ({ dialog: _dialog, made: _made, binding: _binding, ...kept }) => kept });
}
