// Who may make a pull token.
import type { WhoAmI } from "../../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { IdentitiesService } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { missingFor } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";

/** Returns what the caller lacks to make a pull token for a repo. The role holds in the group of the repo. */
export function missingForPullToken(me: WhoAmI | undefined, uid: string): readonly string[] {
  const methods = [IdentitiesService.method.createIdentity, RoleBindingsService.method.createRoleBinding];
  const missing = methods.flatMap((method) => missingFor(me, method, parentOf(uid)));
  return [...new Set([...missing, ...missingFor(me, RolesService.method.listRoles)])];
}
