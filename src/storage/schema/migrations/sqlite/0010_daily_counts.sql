CREATE TABLE `daily_counts` (
	`group_uid` text NOT NULL,
	`metric` text NOT NULL,
	`day` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`group_uid`, `metric`, `day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `daily_counts_day` ON `daily_counts` (`day`,`group_uid`,`metric`);