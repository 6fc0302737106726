CREATE TABLE `external_group_role_mapping_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `external_group_role_mapping_entries_create_time` ON `external_group_role_mapping_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `external_group_role_mapping_entries_update_time` ON `external_group_role_mapping_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE TABLE `identity_provider_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identity_provider_entries_create_time` ON `identity_provider_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `identity_provider_entries_update_time` ON `identity_provider_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE TABLE `terms_acceptance_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `terms_acceptance_entries_create_time` ON `terms_acceptance_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `terms_acceptance_entries_update_time` ON `terms_acceptance_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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