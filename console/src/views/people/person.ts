// A person as their page shows them.
import { type Name, NameState } from "../../../../gen/gatehouse/search/v1/search_pb.ts";

/** The person. */
export interface ShownPerson {
  readonly uid: string;
  /** Undefined before they have joined. */
  readonly name: string | undefined;
  readonly email: string;
}

/** Returns the person of a name. `own` is the address of the caller on their own page: callers who may not list people know it. */
export function personOf({ uid, name, email, state }: Name, own: string): ShownPerson {
  const shown = name || email || own;
  return { uid, name: state === NameState.NOT_JOINED ? undefined : shown || undefined, email: email || own };
}
