import { RoleBindingTermState } from "../../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import type { Term } from "../../../model/grants.ts";

/** Returns the state of a term at a time. */
export function termStateAt({ startTime, expireTime }: Term, time: number): RoleBindingTermState {
  if (expireTime !== null && expireTime <= time) return RoleBindingTermState.ENDED;
  return startTime !== null && startTime > time ? RoleBindingTermState.SCHEDULED : RoleBindingTermState.ACTIVE;
}
