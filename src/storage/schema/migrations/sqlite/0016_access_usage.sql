CREATE TABLE `access_usage` (
	`identity_uid` text NOT NULL,
	`group_uid` text NOT NULL,
	`days` text NOT NULL,
	`last_time` integer NOT NULL,
	`bind_time` integer NOT NULL,
	PRIMARY KEY(`identity_uid`, `group_uid`),
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`group_uid`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_usage_group` ON `access_usage` (`group_uid`);--> statement-breakpoint
CREATE INDEX `access_usage_last_time` ON `access_usage` (`last_time`);