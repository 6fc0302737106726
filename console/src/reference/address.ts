// The address of what the reference shows: /docs/api/NAME/METHOD, where NAME is a service or a type.
import { useSyncExternalStore } from "react";

const base = "/docs/api";

/** The method or type that an address names. Both are empty for the first page. */
export interface Place {
  readonly name: string;
  readonly method: string;
}

/** Returns the address of a service, a method or a type. */
export function addressOf(name = "", method = ""): string {
  return [base, name, method].filter((part) => part !== "").join("/");
}

/** Returns what the present address names, and renders again when it changes. */
export function usePlace(): Place {
  const path = useSyncExternalStore(
    (listener) => {
      addEventListener("popstate", listener);
      return () => removeEventListener("popstate", listener);
    },
    () => location.pathname,
  );
  const [name = "", method = ""] = path.slice(base.length + 1).split("/");
  return { name, method };
}

/** Goes to an address of the reference. */
export function open(address: string): void {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  scrollTo(0, 0);
}
