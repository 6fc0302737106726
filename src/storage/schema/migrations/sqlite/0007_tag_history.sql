CREATE TABLE `tag_history` (
	`tag_uid` text NOT NULL,
	`time` integer NOT NULL,
	`digest` text NOT NULL,
	PRIMARY KEY(`tag_uid`, `time`),
	FOREIGN KEY (`tag_uid`) REFERENCES `tags`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `tag_history` SELECT `uid`, `update_time`, `digest` FROM `tags` WHERE `digest` <> '';
