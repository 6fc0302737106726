CREATE TABLE `__new_advisory_terms` (
	`filter` text NOT NULL,
	`value` text NOT NULL,
	`uid` text NOT NULL,
	PRIMARY KEY(`value`, `filter`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_advisory_terms`("filter", "value", "uid") SELECT "filter", "value", "uid" FROM `advisory_terms` ORDER BY "value", "filter", "uid";--> statement-breakpoint
DROP TABLE `advisory_terms`;--> statement-breakpoint
ALTER TABLE `__new_advisory_terms` RENAME TO `advisory_terms`;
