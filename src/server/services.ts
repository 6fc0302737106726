// The list of services that the pipeline serves.

import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { type Handlers, type Implementation, implement } from "../pipeline/handlers.ts";
import { type AccessContext, access } from "../services/access/access.ts";
import { apply } from "../services/apply/apply.ts";
import { changes } from "../services/audit-log/changes.ts";
import { type AuthContext, auth } from "../services/auth/auth.ts";
import { exchangeRules } from "../services/auth/exchange-rules.ts";
import { type DeliveryServiceContext, delivery } from "../services/events/delivery.ts";
import { subscriptions } from "../services/events/subscriptions/subscriptions.ts";
import { findings } from "../services/findings/findings.ts";
import { accountAssociations } from "../services/iam/account-associations/account-associations.ts";
import { delegations } from "../services/iam/delegations/delegations-service.ts";
import { externalGroupRoleMappings } from "../services/iam/external-group-role-mappings/external-group-role-mappings.ts";
import { groupTree } from "../services/iam/groups/group-tree.ts";
import { groups } from "../services/iam/groups/groups.ts";
import { identities } from "../services/iam/identities/identities.ts";
import { identitySearch } from "../services/iam/identities/identity-search.ts";
import { identityProviders } from "../services/iam/identity-providers/identity-providers.ts";
import { type ProviderTesting, providerTests } from "../services/iam/identity-providers/provider-tests.ts";
import { groupInvites } from "../services/iam/invites/group-invites.ts";
import { memberships } from "../services/iam/memberships/memberships.ts";
import { roleBindings } from "../services/iam/role-bindings/role-bindings.ts";
import { roles } from "../services/iam/roles/roles.ts";
import { terms } from "../services/iam/terms/terms.ts";
import type { KindOptions } from "../services/kinds/kind.ts";
import { type OperateContext, operate } from "../services/operate/operate.ts";
import { ping } from "../services/ping.ts";
import { imageStore } from "../services/registry/image-store.ts";
import { images } from "../services/registry/images.ts";
import { repos } from "../services/registry/repos/repos.ts";
import { repositories } from "../services/registry/repos/repositories.ts";
import { tags } from "../services/registry/tags/tags.ts";
import { search } from "../services/search/search.ts";
import { organizationExport } from "../services/transfer/organization-export.ts";
import { organizationImport } from "../services/transfer/organization-import.ts";
import { advisories } from "../services/vulnerabilities/advisories/advisories.ts";
import { advisoryFacets } from "../services/vulnerabilities/advisories/advisory-facets.ts";
import { advisoryChanges } from "../services/vulnerabilities/changes/advisory-changes.ts";
import { affectedQuery } from "../services/vulnerabilities/queries/affected-query.ts";
import { osvApi } from "../services/vulnerabilities/queries/osv-api.ts";
import { advisoryRecords } from "../services/vulnerabilities/records/records.ts";

/** Methods that authenticate their callers themselves, with another credential. */
export const exemptMethods: ReadonlySet<string> = new Set([
  // Only the device that created the code knows it, and only that device can decrypt the response.
  "/chainguard.platform.auth.Auth/GetHeadlessSession",
  "/chainguard.platform.oidc.SecurityTokenService/Exchange",
  "/chainguard.platform.oidc.SecurityTokenService/ExchangeRefreshToken",
]);

/** Dependencies of the services. */
export type ServiceDeps = AuthContext &
  AccessContext &
  KindOptions &
  DeliveryServiceContext &
  OperateContext &
  ProviderTesting;

/** Returns all services of v2beta1. */
export function services(deps: ServiceDeps, tokenService: Handlers<typeof SecurityTokenService>): Implementation[] {
  return [
    groups(deps),
    groupTree(deps),
    identities(deps),
    identitySearch(deps),
    roles(deps),
    roleBindings(deps),
    repos(deps),
    tags(deps),
    images(deps),
    imageStore(deps),
    repositories(deps),
    advisories(deps),
    advisoryFacets(deps),
    advisoryChanges(deps),
    affectedQuery(deps),
    osvApi(deps),
    advisoryRecords(deps),
    subscriptions(deps),
    delivery(deps),
    changes(deps),
    groupInvites(deps),
    accountAssociations(deps),
    implement(SecurityTokenService, tokenService, exchangeRules),
    auth(deps),
    identityProviders(deps, deps),
    externalGroupRoleMappings(deps),
    providerTests(deps),
    delegations(deps),
    memberships(deps),
    terms(deps),
    access(deps),
    search(deps),
    findings(deps),
    apply(deps, deps),
    organizationImport(deps, deps),
    organizationExport(deps, deps),
    operate(deps),
    ping(),
  ];
}
