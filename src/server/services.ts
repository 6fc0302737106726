// The list of services that the pipeline serves.

import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { type Handlers, type Implementation, implement } from "../pipeline/handlers.ts";
import { type AccessContext, access } from "../services/access/access.ts";
import { accessUsage } from "../services/access/unused-access.ts";
import { apply } from "../services/apply/apply.ts";
import { changes } from "../services/audit-log/changes.ts";
import type { WatchContext } from "../services/audit-log/watch/watch-changes.ts";
import { type AuthContext, auth } from "../services/auth/auth.ts";
import { exchangeRules } from "../services/auth/exchange-rules.ts";
import { type DeliveryServiceContext, delivery } from "../services/deliveries/delivery.ts";
import { findings } from "../services/findings/findings.ts";
import { groupTree } from "../services/group-tree.ts";
import { delegations } from "../services/iam/delegations/delegations-service.ts";
import { identitySearch } from "../services/iam/identities/identity-search.ts";
import { type WorkloadTrustContext, workloadTrust } from "../services/iam/identities/workload-trust.ts";
import { type ProviderTesting, providerTests } from "../services/iam/identity-providers/provider-tests.ts";
import { memberships } from "../services/iam/memberships/memberships.ts";
import { roleBindingTerms } from "../services/iam/role-bindings/terms.ts";
import type { KindOptions } from "../services/kinds/kind-options.ts";
import { type OperateContext, operate } from "../services/operate/operate.ts";
import { organizationExport } from "../services/organization-export/organization-export.ts";
import { ping } from "../services/ping.ts";
import { type ImageContentsContext, imageContents } from "../services/registry/contents/image-contents.ts";
import { imageStore } from "../services/registry/image-store.ts";
import { images } from "../services/registry/images.ts";
import { repositories } from "../services/registry/repos/repositories.ts";
import { imageUses } from "../services/registry/uses/image-uses.ts";
import { kinds } from "../services/resources.ts";
import { search } from "../services/search/search.ts";
import { statistics } from "../services/statistics/statistics.ts";
import { organizationImport } from "../services/transfer/organization-import.ts";
import { advisoryFacets } from "../services/vulnerabilities/advisories/advisory-facets.ts";
import { advisorySearch } from "../services/vulnerabilities/advisories/advisory-search.ts";
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
  ProviderTesting &
  ImageContentsContext &
  WorkloadTrustContext &
  WatchContext;

/** Makes the services of one or several domains. */
type ServiceMaker = (deps: ServiceDeps) => Implementation | readonly Implementation[];

/** The makers of all services of v2beta1 but that of tokens. */
const serviceMakers: readonly ServiceMaker[] = [
  ...kinds.map(
    ({ implement: make }): ServiceMaker =>
      (deps) =>
        make?.(deps) ?? [],
  ),
  groupTree,
  identitySearch,
  images,
  imageStore,
  imageContents,
  imageUses,
  repositories,
  advisoryFacets,
  advisorySearch,
  advisoryChanges,
  affectedQuery,
  osvApi,
  advisoryRecords,
  delivery,
  changes,
  auth,
  providerTests,
  delegations,
  memberships,
  roleBindingTerms,
  workloadTrust,
  access,
  accessUsage,
  search,
  findings,
  statistics,
  apply,
  organizationImport,
  organizationExport,
  operate,
  ping,
];

/** Returns all services of v2beta1. */
export function services(deps: ServiceDeps, tokenService: Handlers<typeof SecurityTokenService>): Implementation[] {
  return [...serviceMakers.flatMap((make) => make(deps)), implement(SecurityTokenService, tokenService, exchangeRules)];
}

/**
 * Returns the function that makes one service of v2beta1, or a few, with other dependencies. It makes each service once, to know which
 * maker has it.
 */
export function newServiceFinder(deps: ServiceDeps) {
  const makers = new Map(
    serviceMakers.flatMap((make) => [make(deps)].flat().map(({ service }) => [service.typeName, make] as const)),
  );
  return (typeName: string, others: ServiceDeps): Implementation | undefined =>
    [makers.get(typeName)?.(others) ?? []].flat().find(({ service }) => service.typeName === typeName);
}
