ALTER TABLE `advisories` ADD `score` integer;--> statement-breakpoint
ALTER TABLE `advisories` ADD `publish_time` integer;--> statement-breakpoint
CREATE INDEX `advisories_score` ON `advisories` (`parent`,`latest_event_type`,`score`,`uid`);--> statement-breakpoint
CREATE INDEX `advisories_unscored` ON `advisories` (`uid`) WHERE `score` IS NULL;