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
	`search_text` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `advisories_once` ON `advisories` (`parent`,`name`);--> statement-breakpoint
CREATE INDEX `advisories_parent` ON `advisories` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `advisory_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `advisory_entries_create_time` ON `advisory_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `advisory_entries_update_time` ON `advisory_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
CREATE TABLE `advisory_events` (
	`uid` text PRIMARY KEY NOT NULL,
	`advisory_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	`author` text NOT NULL,
	`reviewer` text NOT NULL,
	`review_state` integer NOT NULL,
	`type` integer NOT NULL,
	`event` text NOT NULL,
	FOREIGN KEY (`advisory_uid`) REFERENCES `advisories`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `advisory_events_of` ON `advisory_events` (`advisory_uid`,`create_time`,`uid`);--> statement-breakpoint
CREATE TABLE `manifests` (
	`repo_uid` text NOT NULL,
	`digest` text NOT NULL,
	`architecture` text NOT NULL,
	`size` integer NOT NULL,
	PRIMARY KEY(`repo_uid`, `digest`, `architecture`),
	FOREIGN KEY (`repo_uid`) REFERENCES `repos`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `readmes` (
	`repo_uid` text PRIMARY KEY NOT NULL,
	`content` text NOT NULL,
	FOREIGN KEY (`repo_uid`) REFERENCES `repos`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `repo_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `repo_entries_create_time` ON `repo_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `repo_entries_update_time` ON `repo_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE TABLE `subscription_entries` (
	`key` text NOT NULL,
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `subscription_entries_create_time` ON `subscription_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `subscription_entries_update_time` ON `subscription_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
	`uid` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tag_entries_create_time` ON `tag_entries` (`key`,`create_time`,`uid`);--> statement-breakpoint
CREATE INDEX `tag_entries_update_time` ON `tag_entries` (`key`,`update_time`,`uid`);--> statement-breakpoint
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
CREATE INDEX `tags_parent` ON `tags` (`parent`,`uid`);