DROP INDEX `event_queues_next_time`;--> statement-breakpoint
ALTER TABLE `event_queues` ADD `last_duration` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `event_queues_due` ON `event_queues` (`next_time`,`last_duration`);