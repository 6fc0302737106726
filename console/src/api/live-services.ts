// Which data of the page depends on which changes.

/** The services whose responses depend on a kind of resource, by the end of their name. */
const servicesOf: Readonly<Record<string, readonly string[]>> = {
  account_associations: ["AccountAssociationsService"],
  access_request_rules: ["AccessRequestRulesService", "AccessRequestsService"],
  access_requests: ["AccessRequestsService"],
  access_reviews: ["AccessReviewsService"],
  access_review_items: ["AccessReviewsService"],
  advisories: ["AdvisoriesService", "Advisory", "ImageContentsService"],
  external_group_role_mappings: ["ExternalGroupRoleMappingsService"],
  group_invites: ["GroupInvitesService"],
  groups: ["GroupsService", "Auth", "SearchService"],
  identities: ["IdentitiesService", "AccessService", "SearchService"],
  identity_providers: ["IdentityProvidersService", "SearchService"],
  image_sboms: ["ImageContentsService"],
  repo_readmes: ["ReposService"],
  repos: ["ReposService", "SearchService"],
  role_bindings: [
    "RoleBindingsService",
    "RoleBindingTermsService",
    "AccessService",
    "AccessUsageService",
    "AccessRequestsService",
    "Auth",
    "SearchService",
  ],
  roles: ["RolesService", "AccessService", "Auth", "SearchService"],
  subscriptions: ["SubscriptionsService", "DeliveryService"],
  tags: ["TagsService", "ReposService", "ImageUsesService", "ImageContentsService"],
};

/** Kinds of resources that the counts of a group leave out. */
const uncounted: readonly string[] = ["image_sboms", "repo_readmes"];

/**
 * Returns the services whose responses depend on changes of these kinds. The change log has further kinds, such as sign-ins and token
 * exchanges, which only its own service returns.
 */
export function servicesWith(kinds: readonly string[]): readonly string[] {
  if (kinds.length === 0) return [];
  const isCounted = kinds.some((kind) => Object.hasOwn(servicesOf, kind) && !uncounted.includes(kind));
  const others = kinds.flatMap((kind) => (Object.hasOwn(servicesOf, kind) ? servicesOf[kind]! : []));
  return [...new Set(["ChangesService", ...(isCounted ? ["GroupTreeService"] : []), ...others])];
}
