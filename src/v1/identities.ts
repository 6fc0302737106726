import { Identities } from "../../gen/chainguard/platform/iam/v1/identities_pb.ts";
import { IdentitiesService, IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { notFound } from "../aip/errors.ts";
import { resourceType } from "../aip/resource-type.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { isPendingUser } from "../services/iam/users/pending-users.ts";
import { findRow } from "../storage/collection/rows.ts";
import { identityCollection } from "../storage/iam/collections.ts";
import { passThrough, putAsUpdate, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import type { FieldNames } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, current] = [Identities.method, IdentitiesService.method];

const names: FieldNames = { last_seen: "last_seen_time", static: "static_keys", expiration: "expiration_time" };

/** The fields of version 1. It has no company, so a PUT keeps the stored one. */
const mask = ["name", "description", "claim_match", "static_keys", "aws_identity", "service_principal"];

/** Serves identities in version 1. */
export function identities(api: CurrentApi, { database }: ServiceContext): V1Implementation {
  return serve(Identities, {
    create: passThrough(api, v1.create, current.createIdentity, { names }),
    update: putAsUpdate(api, v1.update, current.updateIdentity, { names, mask }),
    list: list(api, v1.list, current.listIdentities, { names }),
    delete: passThrough(api, v1.delete, current.deleteIdentity),
    // The current method returns the uid of any user. This one also says whether they have registered, and nothing else.
    async lookup({ issuer, subject }, call) {
      const { uid } = await api.call(current.lookupIdentity, { issuer, subject }, call);
      const row = await findRow(database.session, identityCollection, uid);
      if (!row || isPendingUser(row)) throw notFound(resourceType(IdentitySchema), uid);
      return { id: uid };
    },
  });
}
