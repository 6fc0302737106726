import { choiceIn, pageIn, textIn } from "../../shell/address.ts";
import { type BindingSearch, bindingIn } from "../../shell/binding-address.ts";

const tabs = ["identity", "ask", "terms", "unused"] as const;

/** The filters of role bindings with a term. */
export const endFilters = ["day", "week", "month", "scheduled"] as const;

/** The choices of days without a use. 90 are not in the address. */
export const dayFilters = ["7", "30", "180", "400"] as const;

/** The search part of the address of the access view. */
export interface AccessSearch extends BindingSearch {
  /** The question: who may do something here (the default), what may an identity do, why, which roles end, which are unused. */
  readonly tab?: (typeof tabs)[number];
  readonly group?: string;
  readonly capability?: string;
  readonly identity?: string;
  readonly confined?: "yes";
  /** Whether only identities with a role that ends are listed. */
  readonly timed?: "yes";
  readonly page?: number;
  /** Which role bindings with a term are listed: those that end within a time, or that begin later. */
  readonly ends?: (typeof endFilters)[number];
  /** For how many days unused role bindings are unused. */
  readonly days?: (typeof dayFilters)[number];
  /** Whether role bindings in use are listed with the unused ones. */
  readonly used?: "yes";
  /** The area of the cell that is explained, for `cell`. */
  readonly area?: string;
  /** The identity of the cell that is explained. */
  readonly cell?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): AccessSearch {
  return {
    ...choiceIn(search, "tab", tabs),
    ...textIn(search, "group"),
    ...textIn(search, "capability"),
    ...textIn(search, "identity"),
    ...choiceIn(search, "confined", ["yes"]),
    ...choiceIn(search, "timed", ["yes"]),
    ...pageIn(search),
    ...choiceIn(search, "ends", endFilters),
    ...choiceIn(search, "days", dayFilters),
    ...choiceIn(search, "used", ["yes"]),
    ...textIn(search, "area"),
    ...textIn(search, "cell"),
    ...bindingIn(search),
  };
}
