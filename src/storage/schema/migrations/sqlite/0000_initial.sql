-- Replaces 28 migrations, and has the time of the last of them in meta/_journal.json: a database that has them all counts as
-- migrated. Change neither (docs/decisions/0054-initial-migration.md).
CREATE TABLE `account_association_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_association_entries_create_time` ON `account_association_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `account_association_entries_update_time` ON `account_association_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `account_associations` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`accounts` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`uid`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_associations_parent` ON `account_associations` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `advisories` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`legacy_advisory_id` text NOT NULL,
	`author` text NOT NULL,
	`artifact_name` text NOT NULL,
	`artifact_type` text NOT NULL,
	`artifact_architecture` text NOT NULL,
	`origin` text NOT NULL,
	`component_name` text NOT NULL,
	`component_type` text NOT NULL,
	`component_location` text NOT NULL,
	`aliases` text NOT NULL,
	`severities` text NOT NULL,
	`latest_event_type` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	`alias_text` text DEFAULT '' NOT NULL,
	`sources` text DEFAULT '[]' NOT NULL,
	`product` text DEFAULT '' NOT NULL,
	`look_up_keys` text DEFAULT '[]' NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `advisories_once` ON `advisories` (`parent`,`name`,`product`);--> statement-breakpoint
CREATE INDEX `advisories_parent` ON `advisories` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `advisory_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `advisory_entries_create_time` ON `advisory_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `advisory_entries_update_time` ON `advisory_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `advisory_events` (
	`uid` text PRIMARY KEY NOT NULL,
	`advisory_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	`author` text NOT NULL,
	`reviewer` text NOT NULL,
	`review_state` integer NOT NULL,
	`type` integer NOT NULL,
	`event` text NOT NULL,
	`derived` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`advisory_uid`) REFERENCES `advisories`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `advisory_events_of` ON `advisory_events` (`advisory_uid`,`create_time`,`uid`);--> statement-breakpoint
CREATE TABLE `advisory_record_links` (
	`advisory_uid` text NOT NULL,
	`record_id` integer NOT NULL,
	PRIMARY KEY(`advisory_uid`, `record_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `advisory_records` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`parent` text NOT NULL,
	`source` text NOT NULL,
	`document` text NOT NULL,
	`vulnerability` text NOT NULL,
	`format` integer NOT NULL,
	`digest` text NOT NULL,
	`publish_time` integer,
	`modify_time` integer,
	`withdraw_time` integer,
	`modify_nanos` integer NOT NULL,
	`revision` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	`advisory_uids` text NOT NULL,
	`size` integer NOT NULL,
	`record` text NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `advisory_records_key` ON `advisory_records` (`parent`,`source`,`document`,`vulnerability`);--> statement-breakpoint
CREATE TABLE `advisory_terms` (
	`filter` text NOT NULL,
	`value` text NOT NULL,
	`uid` text NOT NULL,
	PRIMARY KEY(`value`, `filter`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- The full-text index knows a text by its id. The bits of an id above the 40th are the organization's, so that the texts of
-- one organization are one range of the table and of the index (docs/decisions/0052-text-search.md).
CREATE TABLE `advisory_texts` (
	`id` integer PRIMARY KEY NOT NULL,
	`uid` text NOT NULL UNIQUE,
	`text` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `changes` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`time` integer NOT NULL,
	`actor` text NOT NULL,
	`method` text NOT NULL,
	`kind` text NOT NULL,
	`uid` text NOT NULL,
	`group_uid` text NOT NULL,
	`before` text,
	`after` text,
	`request_id` text NOT NULL,
	`actor_claims` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `changes_kind` ON `changes` (`kind`,`sequence`);--> statement-breakpoint
CREATE INDEX `changes_organization` ON `changes` (substr("group_uid", 1, 40),`sequence`);--> statement-breakpoint
CREATE INDEX `changes_access_requests` ON `changes` (`uid`,`actor`,`sequence`) WHERE "changes"."kind" = 'group_access_requests';--> statement-breakpoint
CREATE TABLE `complete_documents` (
	`parent` text NOT NULL,
	`source` text NOT NULL,
	`document` text NOT NULL,
	`modify_time` integer NOT NULL,
	`modify_nanos` integer NOT NULL,
	`revision` integer NOT NULL,
	PRIMARY KEY(`parent`, `source`, `document`),
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `counters` (
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`key`, `kind`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `delegations` (
	`uid` text NOT NULL,
	`kind` text NOT NULL,
	`maker_uid` text,
	`is_installation` integer NOT NULL,
	`capabilities` text NOT NULL,
	`mappings` text NOT NULL,
	`time` integer NOT NULL,
	PRIMARY KEY(`uid`, `kind`),
	FOREIGN KEY (`maker_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE set null
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `delegations_maker` ON `delegations` (`maker_uid`);--> statement-breakpoint
CREATE TABLE `deleted_advisories` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`delete_time` integer NOT NULL,
	`advisory` text NOT NULL,
	`events` text NOT NULL,
	`change_time` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deleted_advisories_name` ON `deleted_advisories` (`parent`,`name`,`delete_time`);--> statement-breakpoint
CREATE INDEX `deleted_advisories_changed` ON `deleted_advisories` (substr("parent", 1, 40),`change_time`,`uid`);--> statement-breakpoint
CREATE TABLE `event_deliveries` (
	`subscription_uid` text NOT NULL,
	`sequence` integer NOT NULL,
	PRIMARY KEY(`subscription_uid`, `sequence`),
	FOREIGN KEY (`subscription_uid`) REFERENCES `subscriptions`(`uid`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`sequence`) REFERENCES `events`(`sequence`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `event_deliveries_sequence` ON `event_deliveries` (`sequence`);--> statement-breakpoint
CREATE TABLE `event_queues` (
	`subscription_uid` text PRIMARY KEY NOT NULL,
	`attempts` integer NOT NULL,
	`last_failure` text NOT NULL,
	`next_time` integer NOT NULL,
	`last_duration` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`subscription_uid`) REFERENCES `subscriptions`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `event_queues_due` ON `event_queues` (`next_time`,`last_duration`);--> statement-breakpoint
CREATE TABLE `events` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`time` integer NOT NULL,
	`headers` text NOT NULL,
	`data` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `events_time` ON `events` (`time`);--> statement-breakpoint
CREATE TABLE `export_states` (
	`group_uid` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`change_time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `external_group_role_mapping_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `external_group_role_mapping_entries_create_time` ON `external_group_role_mapping_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `external_group_role_mapping_entries_update_time` ON `external_group_role_mapping_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `external_group_role_mappings` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`external_group_id` text NOT NULL,
	`role_uid` text NOT NULL,
	`scope` text NOT NULL,
	`create_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`role_uid`) REFERENCES `roles`(`uid`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`scope`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `external_group_role_mappings_once` ON `external_group_role_mappings` (`parent`,`external_group_id`,`role_uid`,`scope`);--> statement-breakpoint
CREATE INDEX `external_group_role_mappings_parent` ON `external_group_role_mappings` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `external_group_role_mappings_role` ON `external_group_role_mappings` (`role_uid`,`uid`);--> statement-breakpoint
CREATE INDEX `external_group_role_mappings_scope` ON `external_group_role_mappings` (`scope`,`uid`);--> statement-breakpoint
CREATE TABLE `group_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_entries_create_time` ON `group_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `group_entries_update_time` ON `group_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `group_invite_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_invite_entries_create_time` ON `group_invite_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `group_invite_entries_update_time` ON `group_invite_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `group_invites` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`role_uid` text NOT NULL,
	`recipient` text NOT NULL,
	`expiration_time` integer NOT NULL,
	`single_use` integer NOT NULL,
	`key_id` text NOT NULL,
	`code_digest` text NOT NULL,
	`create_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_invites_parent` ON `group_invites` (`parent`,`uid`);--> statement-breakpoint
CREATE UNIQUE INDEX `group_invites_key_id` ON `group_invites` (`key_id`);--> statement-breakpoint
CREATE TABLE `groups` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`resource_limits` text NOT NULL,
	`verified` integer NOT NULL,
	`kind` integer NOT NULL,
	`status` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `groups_parent` ON `groups` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `groups_last_segment` ON `groups` (substr("uid", length("uid") - 15));--> statement-breakpoint
CREATE TABLE `headless_sessions` (
	`code` text PRIMARY KEY NOT NULL,
	`public_key` text NOT NULL,
	`encrypted_token` text NOT NULL,
	`expire_time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `headless_sessions_expire_time` ON `headless_sessions` (`expire_time`);--> statement-breakpoint
CREATE TABLE `identities` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`email` text NOT NULL,
	`email_unverified` text NOT NULL,
	`company` text NOT NULL,
	`relationship_type` integer NOT NULL,
	`relationship` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`metadata` text NOT NULL,
	`last_seen_time` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identities_parent` ON `identities` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `identities_issuer_subject` ON `identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_relationship_type` ON `identities` (`relationship_type`,`uid`);--> statement-breakpoint
CREATE TABLE `identity_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identity_entries_create_time` ON `identity_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `identity_entries_update_time` ON `identity_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `identity_provider_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identity_provider_entries_create_time` ON `identity_provider_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `identity_provider_entries_update_time` ON `identity_provider_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `identity_providers` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`default_role` text NOT NULL,
	`issuer` text NOT NULL,
	`client_id` text NOT NULL,
	`client_secret` text,
	`additional_scopes` text NOT NULL,
	`groups_claim` text NOT NULL,
	`correlation_rule` integer NOT NULL,
	`pkce_enabled` integer NOT NULL,
	`scim_enabled` integer NOT NULL,
	`scim_etag` text NOT NULL,
	`scim_token_digest` text,
	`scim_expire_time` integer,
	`scim_previous_digest` text,
	`scim_previous_expire_time` integer,
	`scim_revoke_time` integer,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`default_role`) REFERENCES `roles`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identity_providers_parent` ON `identity_providers` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `identity_providers_issuer` ON `identity_providers` (`issuer`);--> statement-breakpoint
CREATE INDEX `identity_providers_default_role` ON `identity_providers` (`default_role`,`uid`);--> statement-breakpoint
CREATE TABLE `manifests` (
	`repo_uid` text NOT NULL,
	`digest` text NOT NULL,
	`architecture` text NOT NULL,
	`size` integer NOT NULL,
	PRIMARY KEY(`repo_uid`, `digest`, `architecture`),
	FOREIGN KEY (`repo_uid`) REFERENCES `repos`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `memberships` (
	`identity_uid` text NOT NULL,
	`group_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`identity_uid`, `group_uid`),
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`group_uid`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `memberships_group` ON `memberships` (`group_uid`);--> statement-breakpoint
CREATE TABLE `provider_members` (
	`provider_uid` text NOT NULL,
	`identity_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`provider_uid`, `identity_uid`),
	FOREIGN KEY (`provider_uid`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `provider_members_identity` ON `provider_members` (`identity_uid`);--> statement-breakpoint
CREATE TABLE `readmes` (
	`repo_uid` text PRIMARY KEY NOT NULL,
	`content` text NOT NULL,
	FOREIGN KEY (`repo_uid`) REFERENCES `repos`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `refresh_families` (
	`id` text PRIMARY KEY NOT NULL,
	`identity_uid` text NOT NULL,
	`digest` text NOT NULL,
	`sign_in` text NOT NULL,
	`create_time` integer NOT NULL,
	`expire_time` integer NOT NULL,
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `refresh_families_identity` ON `refresh_families` (`identity_uid`,`create_time`);--> statement-breakpoint
CREATE INDEX `refresh_families_expire_time` ON `refresh_families` (`expire_time`);--> statement-breakpoint
CREATE TABLE `registry_events` (
	`id` text PRIMARY KEY NOT NULL,
	`time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `registry_events_time` ON `registry_events` (`time`);--> statement-breakpoint
CREATE TABLE `repo_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `repo_entries_create_time` ON `repo_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `repo_entries_update_time` ON `repo_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `repos` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`catalog_tier` integer NOT NULL,
	`bundles` text NOT NULL,
	`aliases` text NOT NULL,
	`active_tags` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `repos_once` ON `repos` (`parent`,`name`);--> statement-breakpoint
CREATE INDEX `repos_parent` ON `repos` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `role_binding_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `role_binding_entries_create_time` ON `role_binding_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `role_binding_entries_update_time` ON `role_binding_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `role_bindings` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`identity_uid` text NOT NULL,
	`role_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`role_uid`) REFERENCES `roles`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `role_bindings_once` ON `role_bindings` (`parent`,`role_uid`,`identity_uid`);--> statement-breakpoint
CREATE INDEX `role_bindings_parent` ON `role_bindings` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `role_bindings_identity` ON `role_bindings` (`identity_uid`,`uid`);--> statement-breakpoint
CREATE INDEX `role_bindings_role` ON `role_bindings` (`role_uid`,`uid`);--> statement-breakpoint
CREATE TABLE `role_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `role_entries_create_time` ON `role_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `role_entries_update_time` ON `role_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `roles` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`capabilities` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `roles_parent` ON `roles` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `sign_ins` (
	`id` text PRIMARY KEY NOT NULL,
	`browser_digest` text NOT NULL,
	`sealed` text NOT NULL,
	`expire_time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sign_ins_expire_time` ON `sign_ins` (`expire_time`);--> statement-breakpoint
CREATE TABLE `signing_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`algorithm` text NOT NULL,
	`private_jwk` text NOT NULL,
	`create_time` integer NOT NULL,
	`retire_time` integer
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `subscription_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `subscription_entries_create_time` ON `subscription_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `subscription_entries_update_time` ON `subscription_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`sink` text NOT NULL,
	`create_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `subscriptions_parent` ON `subscriptions` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `tag_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tag_entries_create_time` ON `tag_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `tag_entries_update_time` ON `tag_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `tag_history` (
	`tag_uid` text NOT NULL,
	`time` integer NOT NULL,
	`digest` text NOT NULL,
	PRIMARY KEY(`tag_uid`, `time`),
	FOREIGN KEY (`tag_uid`) REFERENCES `tags`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tags` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`digest` text NOT NULL,
	`deprecated` integer NOT NULL,
	`bundles` text NOT NULL,
	`is_referrer` integer NOT NULL,
	`is_date` integer NOT NULL,
	`is_epoch` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `repos`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `tags_once` ON `tags` (`parent`,`name`);--> statement-breakpoint
CREATE INDEX `tags_parent` ON `tags` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `terms_acceptance_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `terms_acceptance_entries_create_time` ON `terms_acceptance_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `terms_acceptance_entries_update_time` ON `terms_acceptance_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `terms_acceptances` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`accepted_by` text NOT NULL,
	`create_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `terms_acceptances_parent` ON `terms_acceptances` (`parent`,`uid`);
--> statement-breakpoint
-- The texts are in lower case already. The index knows which texts have a trigram, not where: a search compares the texts.
CREATE VIRTUAL TABLE `advisory_text_index` USING fts5(`text`, content = 'advisory_texts', content_rowid = 'id', columnsize = 0, detail = 'none', tokenize = 'trigram case_sensitive 1');
--> statement-breakpoint
-- The trigrams of the index, and how many texts have each: for the check of the database.
CREATE VIRTUAL TABLE `advisory_text_trigrams` USING fts5vocab(`advisory_text_index`, 'row');
--> statement-breakpoint
-- SQLite numbers a new text behind all others. Unless the one before it is of the same organization, it moves behind the
-- organization's last text, or begins the next range.
CREATE TRIGGER `advisory_texts_insert` AFTER INSERT ON `advisory_texts` BEGIN
	UPDATE `advisory_texts` SET `id` = coalesce(
		(SELECT max(`id`) + 1 FROM `advisory_texts` WHERE `id` < (
			SELECT ((`id` >> 40) + 1) << 40 FROM `advisory_texts`
			WHERE `uid` > substr(new.`uid`, 1, 40) || '/' AND `uid` < substr(new.`uid`, 1, 40) || '0' AND `uid` <> new.`uid` LIMIT 1)),
		(((new.`id` - 1) >> 40) + 1) << 40)
	WHERE `id` = new.`id` AND substr((SELECT `uid` FROM `advisory_texts` WHERE `id` = new.`id` - 1), 1, 40) IS NOT substr(new.`uid`, 1, 40);
	INSERT INTO `advisory_text_index` (`rowid`, `text`) SELECT `id`, `text` FROM `advisory_texts` WHERE `uid` = new.`uid`;
END;
--> statement-breakpoint
CREATE TRIGGER `advisory_texts_update` AFTER UPDATE OF `text` ON `advisory_texts` BEGIN
	INSERT INTO `advisory_text_index` (`advisory_text_index`, `rowid`, `text`) VALUES ('delete', old.`id`, old.`text`);
	INSERT INTO `advisory_text_index` (`rowid`, `text`) VALUES (new.`id`, new.`text`);
END;
--> statement-breakpoint
CREATE TRIGGER `advisory_texts_delete` AFTER DELETE ON `advisory_texts` BEGIN
	INSERT INTO `advisory_text_index` (`advisory_text_index`, `rowid`, `text`) VALUES ('delete', old.`id`, old.`text`);
END;
--> statement-breakpoint
-- The last change whose events are queued, and the last one that retention deleted.
INSERT INTO `settings` (`name`, `value`) VALUES ('events_position', '0'), ('changes_removed', '0');
