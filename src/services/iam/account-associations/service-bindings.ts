import type { AccountAssociation } from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { invalidField } from "../../../aip/errors.ts";
import { parentOf } from "../../../model/uid.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { findServicePrincipal } from "./account-rules.ts";

/**
 * Throws unless each service is bound to an identity directly in the group whose service principal is that service. Bindings that
 * `known` already contains are not checked.
 */
export async function requireServiceIdentities(
  session: Session,
  { chainguard }: Pick<AccountAssociation, "chainguard">,
  groupUid: string,
  known?: Pick<AccountAssociation, "chainguard">,
): Promise<void> {
  for (const [name, identityUid] of Object.entries(chainguard?.serviceBindings ?? {})) {
    if (known?.chainguard?.serviceBindings[name] === identityUid) continue;
    // The uid decides first: the error must not reveal identities of other groups.
    const row =
      parentOf(identityUid) === groupUid ? await findRow(session, identityCollection, identityUid) : undefined;
    const { case: kind, value } = row?.relationship ?? { case: "", value: null };
    if (kind === "servicePrincipal" && value === findServicePrincipal(name)) continue;
    const description = `must be an identity directly in the group with the service principal ${name}`;
    throw invalidField(`chainguard.service_bindings[${JSON.stringify(name)}]`, description);
  }
}
