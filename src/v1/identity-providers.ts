import { IdentityProviders } from "../../gen/chainguard/platform/iam/v1/identity_providers_pb.ts";
import { IdentityProvidersService } from "../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import type { Names } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, now] = [IdentityProviders.method, IdentityProvidersService.method];

const names: Names = { identity_provider_id: "identity_provider_uid" };

/** Serves identity providers as version 1 has them. A replacement without a client secret keeps the one that is stored. */
export function identityProviders(today: Today): V1Implementation {
  return serve(IdentityProviders, {
    create: same(today, v1.create, now.createIdentityProvider),
    update: replace(today, v1.update, now.updateIdentityProvider),
    list: list(today, v1.list, now.listIdentityProviders),
    delete: same(today, v1.delete, now.deleteIdentityProvider),
    generateScimToken: same(today, v1.generateScimToken, now.generateScimToken, { names }),
    regenerateScimToken: same(today, v1.regenerateScimToken, now.regenerateScimToken, { names }),
    revokeScimToken: same(today, v1.revokeScimToken, now.revokeScimToken, { names }),
    setScimEnabled: same(today, v1.setScimEnabled, now.setScimEnabled, { names }),
  });
}
