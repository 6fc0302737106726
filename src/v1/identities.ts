import { Identities } from "../../gen/chainguard/platform/iam/v1/identities_pb.ts";
import { IdentitiesService, IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { notFound } from "../aip/errors.ts";
import { resourceType } from "../aip/resource-type.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { isPendingUser } from "../services/iam/users/pending-users.ts";
import { findRow } from "../storage/collection/rows.ts";
import { identityCollection } from "../storage/iam/collections.ts";
import { replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import type { Names } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, now] = [Identities.method, IdentitiesService.method];

const names: Names = { last_seen: "last_seen_time", static: "static_keys", expiration: "expiration_time" };

/** What version 1 has fields for. A company, which it does not know of, stays. */
const mask = ["name", "description", "claim_match", "static_keys", "aws_identity", "service_principal"];

/** Serves identities as version 1 has them. */
export function identities(today: Today, { database }: ServiceContext): V1Implementation {
  return serve(Identities, {
    create: same(today, v1.create, now.createIdentity, { names }),
    update: replace(today, v1.update, now.updateIdentity, { names, mask }),
    list: list(today, v1.list, now.listIdentities, { names }),
    delete: same(today, v1.delete, now.deleteIdentity),
    // Today's method tells the uid of anybody; this one also whether they have registered, and nothing else of them.
    async lookup({ issuer, subject }, call) {
      const { uid } = await today.call(now.lookupIdentity, { issuer, subject }, call);
      const row = await findRow(database.session, identityCollection, uid);
      if (!row || isPendingUser(row)) throw notFound(resourceType(IdentitySchema), uid);
      return { id: uid };
    },
  });
}
