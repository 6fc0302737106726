CREATE TABLE `advisory_terms` (
	`filter` text NOT NULL,
	`value` text NOT NULL,
	`uid` text NOT NULL,
	PRIMARY KEY(`filter`, `value`, `uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `advisory_texts` (
	`uid` text PRIMARY KEY NOT NULL,
	`text` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `deleted_advisories` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`delete_time` integer NOT NULL,
	`advisory` text NOT NULL,
	`events` text NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deleted_advisories_name` ON `deleted_advisories` (`parent`,`name`,`delete_time`);--> statement-breakpoint
ALTER TABLE `advisories` ADD `alias_text` text DEFAULT '' NOT NULL;