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
	FOREIGN KEY (`subscription_uid`) REFERENCES `subscriptions`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `event_queues_next_time` ON `event_queues` (`next_time`);--> statement-breakpoint
CREATE TABLE `events` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`time` integer NOT NULL,
	`headers` text NOT NULL,
	`data` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `events_time` ON `events` (`time`);--> statement-breakpoint
ALTER TABLE `changes` ADD `actor_claims` text;--> statement-breakpoint
INSERT INTO `settings` (`name`, `value`) SELECT 'events_position', cast(coalesce(max(`sequence`), 0) as text) FROM `changes`;