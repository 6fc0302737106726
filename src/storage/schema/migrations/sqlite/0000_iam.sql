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
	`request_id` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `changes_uid` ON `changes` (`uid`,`sequence`);--> statement-breakpoint
CREATE TABLE `counters` (
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`key`, `kind`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `group_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_entries_create_time` ON `group_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `group_entries_update_time` ON `group_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE INDEX `groups_name` ON `groups` (`name`);--> statement-breakpoint
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
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `identity_entries_create_time` ON `identity_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `identity_entries_update_time` ON `identity_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
CREATE TABLE `role_binding_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `role_binding_entries_create_time` ON `role_binding_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `role_binding_entries_update_time` ON `role_binding_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `role_entries_create_time` ON `role_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `role_entries_update_time` ON `role_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE TABLE `signing_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`algorithm` text NOT NULL,
	`private_jwk` text NOT NULL,
	`create_time` integer NOT NULL,
	`retire_time` integer
) STRICT, WITHOUT ROWID;
