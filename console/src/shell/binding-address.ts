// The dialogs that give, change and take away roles, in the address of the view that shows them.
import { choiceIn, textIn, usePartOfAddress } from "./address.ts";

const dialogs = ["grant", "change", "end", "revoke"] as const;

/** The part of an address that opens a dialog of role bindings. */
export interface BindingSearch {
  readonly dialog?: (typeof dialogs)[number];
  /** The role binding of the dialog. */
  readonly binding?: string;
}

/** Returns that part of an address. */
export function bindingIn(search: Record<string, unknown>): BindingSearch {
  return { ...choiceIn(search, "dialog", dialogs), ...textIn(search, "binding") };
}

/** Returns the dialog in the address, and the functions that open and close one. */
export function useBindingAddress() {
  const { org, search, change } = usePartOfAddress(bindingIn);
  const { dialog, binding = "" } = search;
  return {
    org,
    dialog,
    binding,
    openDialog: (opened: NonNullable<BindingSearch["dialog"]>, uid?: string) =>
      change({ dialog: opened, binding: uid }),
    closeDialog: () => change({ dialog: undefined, binding: undefined }),
  };
}
