CREATE TABLE `advisory_record_links` (
	`advisory_uid` text NOT NULL,
	`record_id` integer NOT NULL,
	PRIMARY KEY(`advisory_uid`, `record_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `advisory_records` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`parent` text NOT NULL,
	`source` text NOT NULL,
	`document` text NOT NULL,
	`vulnerability` text NOT NULL,
	`format` integer NOT NULL,
	`digest` text NOT NULL,
	`publish_time` integer,
	`modify_time` integer,
	`withdraw_time` integer,
	`modify_nanos` integer NOT NULL,
	`revision` integer NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	`advisory_uids` text NOT NULL,
	`size` integer NOT NULL,
	`record` text NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `advisory_records_key` ON `advisory_records` (`parent`,`source`,`document`,`vulnerability`);--> statement-breakpoint
CREATE TABLE `complete_documents` (
	`parent` text NOT NULL,
	`source` text NOT NULL,
	`document` text NOT NULL,
	`modify_time` integer NOT NULL,
	`modify_nanos` integer NOT NULL,
	`revision` integer NOT NULL,
	PRIMARY KEY(`parent`, `source`, `document`),
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
DROP INDEX `advisories_once`;--> statement-breakpoint
ALTER TABLE `advisories` ADD `product` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `advisories` ADD `package_key` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `advisories_once` ON `advisories` (`parent`,`name`,`product`);--> statement-breakpoint
ALTER TABLE `advisory_events` ADD `derived` integer DEFAULT false NOT NULL;