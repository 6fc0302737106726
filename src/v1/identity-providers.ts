import { IdentityProviders } from "../../gen/chainguard/platform/iam/v1/identity_providers_pb.ts";
import { IdentityProvidersService } from "../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { passThrough, putAsUpdate, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import type { FieldNames } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, current] = [IdentityProviders.method, IdentityProvidersService.method];

const names: FieldNames = { identity_provider_id: "identity_provider_uid" };

/** Serves identity providers in version 1. A PUT without a client secret keeps the stored one. */
export function identityProviders(api: CurrentApi): V1Implementation {
  return serve(IdentityProviders, {
    create: passThrough(api, v1.create, current.createIdentityProvider),
    update: putAsUpdate(api, v1.update, current.updateIdentityProvider),
    list: list(api, v1.list, current.listIdentityProviders),
    delete: passThrough(api, v1.delete, current.deleteIdentityProvider),
    generateScimToken: passThrough(api, v1.generateScimToken, current.generateScimToken, { names }),
    regenerateScimToken: passThrough(api, v1.regenerateScimToken, current.regenerateScimToken, { names }),
    revokeScimToken: passThrough(api, v1.revokeScimToken, current.revokeScimToken, { names }),
    setScimEnabled: passThrough(api, v1.setScimEnabled, current.setScimEnabled, { names }),
  });
}
