import type { Role } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";

/** Returns whether a role is one of the server: those of organizations lie in a group. */
export function isBuiltIn({ uid }: Pick<Role, "uid">): boolean {
  return !uid.includes("/");
}
