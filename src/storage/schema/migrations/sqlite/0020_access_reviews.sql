CREATE TABLE `access_review_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_review_entries_create_time` ON `access_review_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `access_review_entries_update_time` ON `access_review_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `access_review_items` (
	`review_uid` text NOT NULL,
	`role_binding_uid` text NOT NULL,
	`identity_uid` text NOT NULL,
	`role_uid` text NOT NULL,
	`identity_name` text NOT NULL,
	`group_name` text NOT NULL,
	`role_name` text NOT NULL,
	`create_time` integer NOT NULL,
	`start_time` integer,
	`expire_time` integer,
	`last_use_time` integer,
	`used_capability_count` integer NOT NULL,
	`capability_count` integer NOT NULL,
	`observed_time` integer,
	`delegation_count` integer NOT NULL,
	`decision` text NOT NULL,
	`reviewer_uid` text NOT NULL,
	`comment` text NOT NULL,
	`decide_time` integer,
	PRIMARY KEY(`review_uid`, `role_binding_uid`),
	FOREIGN KEY (`review_uid`) REFERENCES `access_reviews`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_review_items_decision` ON `access_review_items` (`review_uid`,`decision`,`role_binding_uid`);--> statement-breakpoint
CREATE TABLE `access_reviews` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`due_time` integer NOT NULL,
	`on_due` text NOT NULL,
	`reviewer_identity_uids` text NOT NULL,
	`role_uids` text NOT NULL,
	`holders` text NOT NULL,
	`unused_days` integer NOT NULL,
	`creator_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	`end_time` integer,
	`close_time` integer,
	`recorded_time` integer,
	`kept_unconfirmed` integer NOT NULL,
	`item_count` integer NOT NULL,
	`pending_count` integer NOT NULL,
	`confirmed_count` integer NOT NULL,
	`revoked_count` integer NOT NULL,
	`gone_count` integer NOT NULL,
	`changed_count` integer NOT NULL,
	`kept_last_owner_count` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_reviews_parent` ON `access_reviews` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `access_reviews_end` ON `access_reviews` (`end_time`) WHERE "end_time" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `access_reviews_close` ON `access_reviews` (`close_time`) WHERE "close_time" IS NOT NULL;