CREATE TABLE `registry_events` (
	`id` text PRIMARY KEY NOT NULL,
	`time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `registry_events_time` ON `registry_events` (`time`);