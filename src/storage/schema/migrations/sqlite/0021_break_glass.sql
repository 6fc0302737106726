ALTER TABLE `access_request_rules` ADD `break_glass` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `access_requests` ADD `break_glass` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `access_requests` ADD `acknowledge_time` integer;--> statement-breakpoint
ALTER TABLE `access_requests` ADD `acknowledger_uid` text;--> statement-breakpoint
ALTER TABLE `access_requests` ADD `acknowledge_comment` text;--> statement-breakpoint
ALTER TABLE `access_requests` ADD `close_time` integer;--> statement-breakpoint
CREATE INDEX `access_requests_unacknowledged` ON `access_requests` (`uid`) WHERE `break_glass` AND `acknowledge_time` IS NULL;--> statement-breakpoint
CREATE INDEX `access_requests_closed` ON `access_requests` (`close_time`) WHERE `close_time` IS NOT NULL;