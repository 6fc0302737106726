CREATE TABLE `scim_groups` (
	`uid` text PRIMARY KEY NOT NULL,
	`provider_uid` text NOT NULL,
	`display_name` text NOT NULL,
	`display_name_key` text NOT NULL,
	`external_id` text,
	`version` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`provider_uid`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `scim_groups_external_id` ON `scim_groups` (`provider_uid`,`external_id`);--> statement-breakpoint
CREATE INDEX `scim_groups_display_name` ON `scim_groups` (`provider_uid`,`display_name_key`,`uid`);--> statement-breakpoint
CREATE TABLE `scim_members` (
	`group_uid` text NOT NULL,
	`user_uid` text NOT NULL,
	PRIMARY KEY(`group_uid`, `user_uid`),
	FOREIGN KEY (`group_uid`) REFERENCES `scim_groups`(`uid`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_uid`) REFERENCES `scim_users`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `scim_members_user` ON `scim_members` (`user_uid`);--> statement-breakpoint
CREATE TABLE `scim_suspensions` (
	`identity_uid` text NOT NULL,
	`provider_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`identity_uid`, `provider_uid`),
	FOREIGN KEY (`provider_uid`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `scim_suspensions_provider` ON `scim_suspensions` (`provider_uid`);--> statement-breakpoint
CREATE TABLE `scim_users` (
	`uid` text PRIMARY KEY NOT NULL,
	`provider_uid` text NOT NULL,
	`user_name_key` text NOT NULL,
	`display_name_key` text NOT NULL,
	`external_id` text,
	`is_active` integer NOT NULL,
	`identity_uid` text,
	`sign_in_time` integer,
	`attributes` text NOT NULL,
	`version` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`provider_uid`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `scim_users_user_name` ON `scim_users` (`provider_uid`,`user_name_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `scim_users_external_id` ON `scim_users` (`provider_uid`,`external_id`);--> statement-breakpoint
CREATE INDEX `scim_users_display_name` ON `scim_users` (`provider_uid`,`display_name_key`,`uid`);--> statement-breakpoint
CREATE INDEX `scim_users_identity` ON `scim_users` (`identity_uid`);
