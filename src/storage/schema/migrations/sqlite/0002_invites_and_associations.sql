CREATE TABLE `account_association_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_association_entries_create_time` ON `account_association_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `account_association_entries_update_time` ON `account_association_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE TABLE `group_invite_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_invite_entries_create_time` ON `group_invite_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `group_invite_entries_update_time` ON `group_invite_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE UNIQUE INDEX `group_invites_key_id` ON `group_invites` (`key_id`);