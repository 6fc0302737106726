ALTER TABLE `deleted_advisories` ADD `change_time` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `deleted_advisories_changed` ON `deleted_advisories` (substr("parent", 1, 40),`change_time`,`uid`);--> statement-breakpoint
-- When they were deleted here is not known for those that their source withdrew: a follower is told of all of them rather than of too few.
UPDATE `deleted_advisories` SET `change_time` = CAST(unixepoch('subsec') * 1000 AS integer);