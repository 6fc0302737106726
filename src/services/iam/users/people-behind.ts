import type { VerifiedToken } from "../../../authn/caller.ts";
import { userUidsOf } from "./user-uid.ts";

/** Returns the uids that the person behind a token can have: who assumed a workload must not decide about what they do by it. */
export function peopleBehind({ act: { iss = "", sub = "" } }: VerifiedToken): string[] {
  return iss === "" || sub === "" ? [] : userUidsOf(iss, sub);
}
