CREATE TABLE `subscription_settings` (
	`uid` text PRIMARY KEY NOT NULL,
	`is_paused` integer NOT NULL,
	`kinds` text NOT NULL,
	`description` text NOT NULL,
	`dropped_events` integer NOT NULL,
	`last_drop_time` integer,
	`test_time` integer NOT NULL,
	`test_events` integer NOT NULL,
	FOREIGN KEY (`uid`) REFERENCES `subscriptions`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `delivery_attempts` ADD `uid` text;--> statement-breakpoint
ALTER TABLE `delivery_attempts` ADD `reason` text;--> statement-breakpoint
ALTER TABLE `delivery_attempts` ADD `sequence` integer;--> statement-breakpoint
ALTER TABLE `delivery_attempts` ADD `payload` text;--> statement-breakpoint
CREATE INDEX `delivery_attempts_uid` ON `delivery_attempts` (`uid`);