DROP INDEX `changes_uid`;--> statement-breakpoint
CREATE INDEX `changes_access_requests` ON `changes` (`uid`,`actor`,`sequence`) WHERE "changes"."kind" = 'group_access_requests';--> statement-breakpoint
DROP INDEX `groups_name`;