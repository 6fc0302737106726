// The sentences about changes in English, by the key of the sentence.

const more = "{count, plural, one {} other {: {resource} and {more} more}}";

/** Returns the texts of a kind of resources that are in groups. */
function inGroup<K extends string>(kind: K, one: string, several: string) {
  const what = `{count, plural, one {the ${one} {resource} in {group}} other {# ${several}}}${more}`;
  return {
    [`${kind}.created`]: `{actor} created ${what}`,
    [`${kind}.updated`]: `{actor} changed ${what}`,
    [`${kind}.deleted`]: `{actor} deleted ${what}`,
  } as Record<`${K}.${"created" | "updated" | "deleted"}`, string>;
}

/** A text for each key. `count` is how many changes a sentence stands for, and `more` all but the one that it names. */
export const en = {
  ...inGroup("identities", "workload", "workloads"),
  ...inGroup("roles", "role", "roles"),
  ...inGroup("identity_providers", "identity provider", "identity providers"),
  ...inGroup("repos", "repo", "repos"),
  ...inGroup("tags", "tag", "tags"),
  ...inGroup("advisories", "advisory", "advisories"),
  ...inGroup("subscriptions", "webhook", "webhooks"),
  ...inGroup("access_request_rules", "rule of access requests", "rules of access requests"),
  "groups.created": `{actor} created {count, plural, one {the group {resource}} other {# groups}}${more}`,
  "groups.updated": `{actor} changed {count, plural, one {the group {resource}} other {# groups}}${more}`,
  "groups.deleted": `{actor} deleted {count, plural, one {the group {resource}} other {# groups}}${more}`,
  "access_requests.requested":
    "{actor} requested {count, plural, one {the role {role} in {group}} other {# roles: {role} and {more} more}}",
  "access_requests.obtained":
    "{actor} got {count, plural, one {the role {role} in {group}} other {# roles: {role} and {more} more}} by request",
  "access_requests.taken":
    "{actor} took {count, plural, one {the role {role} in {group}} other {# roles: {role} and {more} more}} by break-glass",
  "access_requests.acknowledged":
    "{actor} acknowledged {count, plural, one {the break-glass of {identity} for the role {role} in {group}} other {# break-glass requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.approved":
    "{actor} approved {count, plural, one {the request of {identity} for the role {role} in {group}} other {# requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.given":
    "{actor} approved, and so fulfilled, {count, plural, one {the request of {identity} for the role {role} in {group}} other {# requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.denied":
    "{actor} denied {count, plural, one {the request of {identity} for the role {role} in {group}} other {# requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.cancelled":
    "{actor} cancelled {count, plural, one {the request of {identity} for the role {role} in {group}} other {# requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.ended":
    "{actor} ended {count, plural, one {the request of {identity} for the role {role} in {group}} other {# requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.deleted":
    "{actor} deleted {count, plural, one {the request of {identity} for the role {role} in {group}} other {# requests: that of {identity} for {role}, and {more} more}}",
  "access_requests.expired":
    "{count, plural, one {The request of {identity} for the role {role} in {group}} other {# requests}} expired{count, plural, one {} other {: that of {identity} for {role}, and {more} more}}",
  "access_reviews.started":
    "{actor} started {count, plural, one {the access review {review} of {group}} other {# access reviews: {review} and {more} more}}",
  "access_reviews.ended":
    "{actor} ended {count, plural, one {the access review {review} of {group}} other {# access reviews: {review} and {more} more}} before the due time",
  "access_reviews.closed":
    "{count, plural, one {The access review {review} of {group}} other {# access reviews}} closed{count, plural, one {} other {: {review} and {more} more}}",
  "access_reviews.changed":
    "{actor} changed {count, plural, one {the access review {review} of {group}} other {# access reviews: {review} and {more} more}}",
  "access_reviews.deleted":
    "{count, plural, one {The access review {review} of {group} was} other {# access reviews were}} deleted{count, plural, one {} other {: {review} and {more} more}}",
  "access_review_items.confirmed":
    "{actor} confirmed {count, plural, one {the role {role} of {identity} in {place}} other {# roles: {role} of {identity} in {place}, and {more} more}}",
  "access_review_items.revoked":
    "{actor} revoked {count, plural, one {the role {role} of {identity} in {place}} other {# roles: {role} of {identity} in {place}, and {more} more}}",
  "access_review_items.missed":
    "{actor} decided about {count, plural, one {the role {role} of {identity} in {place}, which is} other {# roles which are}} not as the review lists {count, plural, one {it} other {them: {role} of {identity}, and {more} more}}",
  "role_bindings.created":
    "{actor} gave {count, plural, one {{identity} the role {role} in {group}} other {# roles: {role} to {identity}, and {more} more}}",
  "role_bindings.updated":
    "{actor} changed {count, plural, one {the role of {identity} in {group} to {role}} other {# roles: that of {identity} to {role}, and {more} more}}",
  "role_bindings.deleted":
    "{actor} took {count, plural, one {the role {role} in {group} from {identity}} other {# roles: {role} from {identity}, and {more} more}}",
  "group_invites.created":
    "{actor} created {count, plural, one {an invite to {group}} other {# invites: one to {group} and {more} more}}",
  "group_invites.updated":
    "{actor} changed {count, plural, one {an invite to {group}} other {# invites: one to {group} and {more} more}}",
  "group_invites.deleted":
    "{actor} deleted {count, plural, one {an invite to {group}} other {# invites: one to {group} and {more} more}}",
  "external_group_role_mappings.created":
    "{actor} gave {count, plural, one {the group {externalGroup} of {provider} the role {role}} other {# groups of {provider} a role: {externalGroup} and {more} more}}",
  "external_group_role_mappings.updated":
    "{actor} changed {count, plural, one {the role of the group {externalGroup} of {provider} to {role}} other {the roles of # groups of {provider}: {externalGroup} and {more} more}}",
  "external_group_role_mappings.deleted":
    "{actor} took {count, plural, one {the role {role} from the group {externalGroup} of {provider}} other {the roles of # groups of {provider}: {externalGroup} and {more} more}}",
  "account_associations.created":
    "{actor} connected cloud accounts to {count, plural, one {{group}} other {# groups: {group} and {more} more}}",
  "account_associations.updated":
    "{actor} changed the cloud accounts of {count, plural, one {{group}} other {# groups: {group} and {more} more}}",
  "account_associations.deleted":
    "{actor} disconnected the cloud accounts of {count, plural, one {{group}} other {# groups: {group} and {more} more}}",
  "terms_acceptances.created":
    "{actor} accepted {count, plural, one {terms for {group}} other {# terms: some for {group}, and {more} more}}",
  "terms_acceptances.updated":
    "{actor} changed {count, plural, one {accepted terms of {group}} other {# accepted terms: some of {group}, and {more} more}}",
  "terms_acceptances.deleted":
    "{actor} deleted {count, plural, one {accepted terms of {group}} other {# accepted terms: some of {group}, and {more} more}}",
  "memberships.joined": "{resource} {count, plural, one {joined {group}} other {and {more} more joined {group}}}",
  "memberships.left": "{resource} {count, plural, one {left {group}} other {and {more} more left {group}}}",
  "memberships.removed":
    "{actor} removed {count, plural, one {{resource}} other {# people}} from {group}{count, plural, one {} other {: {resource} and {more} more}}",
  "scim_users.created": `{actor} added {count, plural, one {{resource}} other {# people}}${more}`,
  "scim_users.updated": `{actor} changed {count, plural, one {{resource}} other {# people}}${more}`,
  "scim_users.deleted": `{actor} deleted {count, plural, one {{resource}} other {# people}}${more}`,
  "scim_groups.created": `{actor} added {count, plural, one {the group {resource}} other {# groups}} of its directory${more}`,
  "scim_groups.updated": `{actor} changed {count, plural, one {the group {resource}} other {# groups}} of its directory${more}`,
  "scim_groups.deleted": `{actor} deleted {count, plural, one {the group {resource}} other {# groups}} of its directory${more}`,
  "repo_readmes.created": `{actor} wrote the {count, plural, one {readme of {resource}} other {readmes of # repos}}${more}`,
  "repo_readmes.updated": `{actor} changed the {count, plural, one {readme of {resource}} other {readmes of # repos}}${more}`,
  "repo_readmes.deleted": `{actor} deleted the {count, plural, one {readme of {resource}} other {readmes of # repos}}${more}`,
  "image_sboms.created": `{actor} added {count, plural, one {an SBOM to an image of {resource}} other {# SBOMs to images}}${more}`,
  "image_sboms.updated": `{actor} replaced {count, plural, one {an SBOM of an image of {resource}} other {# SBOMs of images}}${more}`,
  "image_sboms.deleted": `{actor} deleted {count, plural, one {an SBOM of an image of {resource}} other {# SBOMs of images}}${more}`,
  "image_findings.changed": `{actor} found {count, plural, one {changed findings in images of {resource}} other {changed findings in images # times}}${more}`,
  "registry_pushes.pushed":
    "{actor} reported {count, plural, one {a push to {resource}} other {# pushes: to {resource}, and {more} more}}",
  "identity_trust.changed": `{actor} changed the pinned names of {count, plural, one {the identity {resource}} other {# identities}}${more}`,
  "subscription_settings.changed": `{actor} changed the settings of {count, plural, one {the webhook {resource}} other {# webhooks}}${more}`,
  "test_events.sent":
    "{actor} sent {count, plural, one {a test event to {resource}} other {# test events: to {resource}, and {more} more}}",
  "redeliveries.sent":
    "{actor} sent {count, plural, one {events to {resource} again} other {events again # times: to {resource}, and {more} more}}",
  "delegations.confirmed":
    "{actor} confirmed {count, plural, one {the delegation of {resource}} other {# delegations: that of {resource}, and {more} more}}",
  "group_access_requests.asked":
    "{actor} asked for access to {count, plural, one {{group}} other {# groups: {group} and {more} more}}",
  "sign_ins.allowed": "{actor} signed in{count, plural, one {} other { # times}}",
  "sign_ins.several": "{actor} and {more} more signed in, {count} times in all",
  "sign_ins.denied": "{count, plural, one {A sign-in} other {# sign-ins}} by {resource} failed",
  "sign_ins.omitted": "{count, plural, one {# sign-in is} other {# sign-ins are}} not listed",
  "session_ends.allowed": "{count, plural, one {A session} other {# sessions}} of {resource} ended",
  "session_ends.denied":
    "{count, plural, one {A session} other {# sessions}} of {resource} ended: a used token was presented again",
  "session_ends.omitted":
    "{count, plural, one {The end of # session is} other {The ends of # sessions are}} not listed",
  "token_exchanges.allowed": "{actor} got {count, plural, one {a token} other {# tokens}}",
  "token_exchanges.several": "{actor} and {more} more got {count} tokens",
  "token_exchanges.denied":
    "{count, plural, one {A token for {resource} was} other {# tokens for {resource} were}} denied",
  "token_exchanges.omitted": "{count, plural, one {# token exchange is} other {# token exchanges are}} not listed",
  "denials.allowed": "{actor} called {method}{count, plural, one {} other { # times}}",
  "denials.denied": "{actor} was denied {method}{count, plural, one {} other {; # denials in all}}",
  "denials.omitted": "{count, plural, one {# denied call is} other {# denied calls are}} not listed",
  "signing_keys.rotated": "{actor} rotated the signing key{count, plural, one {} other { # times}}",
  "signing_key_retirements.retired": "{actor} retired {count, plural, one {a signing key} other {# signing keys}}",
  "ended_sessions.ended": "{actor} ended {count, plural, one {a session} other {# sessions}} of {resource}",
  "resource_exports.exported": "{actor} exported the resources of {resource}{count, plural, one {} other { # times}}",
  "seen_token_clearings.cleared":
    "{actor} deleted the seen tokens of {count, plural, one {{resource}} other {# identities}}",
  "client_secret_exports.exported": `{actor} exported the client {count, plural, one {secret of {resource}} other {secrets of # identity providers}}${more}`,
  "other.created": "{actor} created {count, plural, one {something} other {# things}} of the kind {kind}",
  "other.updated": "{actor} changed {count, plural, one {something} other {# things}} of the kind {kind}",
  "other.deleted": "{actor} deleted {count, plural, one {something} other {# things}} of the kind {kind}",
  "name.server": "the server",
  "name.notJoined": "Not joined yet ({uid})",
  "name.formerMember": "a former member",
  "name.deleted": "(deleted)",
  "name.deletedAs": "{name} (deleted)",
  "name.deletedWorkload": "a deleted workload",
  "name.deletedWorkloadAs": "a deleted workload ({name})",
  "name.hidden": "(hidden)",
};
