import { choiceIn, pageIn, textIn } from "../../shell/address.ts";
import { type BindingSearch, bindingIn } from "../../shell/binding-address.ts";

/** The search part of the address of the access view. */
export interface AccessSearch extends BindingSearch {
  /** Which question is asked: who may do something here (the default), what may somebody do, why. */
  readonly tab?: "identity" | "ask";
  readonly group?: string;
  readonly capability?: string;
  readonly identity?: string;
  readonly confined?: "yes";
  readonly page?: number;
  /** The area of the cell that is explained, for `cell`. */
  readonly area?: string;
  /** The identity of the cell that is explained. */
  readonly cell?: string;
}

/** Returns the search part of an address, without what the view does not know. */
export function validateSearch(search: Record<string, unknown>): AccessSearch {
  return {
    ...choiceIn(search, "tab", ["identity", "ask"]),
    ...textIn(search, "group"),
    ...textIn(search, "capability"),
    ...textIn(search, "identity"),
    ...choiceIn(search, "confined", ["yes"]),
    ...pageIn(search),
    ...textIn(search, "area"),
    ...textIn(search, "cell"),
    ...bindingIn(search),
  };
}
