// Binds the roles that `identities create --role` names.
import type { JsonObject } from "@bufbuild/protobuf";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { parentOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { list } from "./flags.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import type { Options } from "./resource.ts";
import { roles } from "./roles.ts";

/** Looks up the roles before the identity exists, and returns the function that binds them to it. */
export async function prepareRoleBindings(
  options: Options,
  session: Session,
): Promise<(identity: JsonObject) => Promise<void>> {
  const roleUids: string[] = [];
  for (const role of list(options.role ?? [])) roleUids.push(await findUid(session, roles, role));
  return (identity) => bindRoles(session, textAt(identity, "uid"), roleUids);
}

async function bindRoles(session: Session, identityUid: string, roleUids: readonly string[]): Promise<void> {
  for (const roleUid of roleUids) {
    const request = { parent: parentOf(identityUid), roleBinding: { identityUid, roleUid } };
    await session.call(RoleBindingsService.method.createRoleBinding, request);
  }
}
