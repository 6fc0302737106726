CREATE TABLE `image_uses` (
	`image` integer NOT NULL,
	`hour` integer NOT NULL,
	`actor` text NOT NULL,
	`kind` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`image`, `hour`, `actor`, `kind`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `image_uses_hour` ON `image_uses` (`hour`);--> statement-breakpoint
CREATE TABLE `repo_registries` (
	`repo_uid` text PRIMARY KEY NOT NULL,
	`registry` text NOT NULL,
	FOREIGN KEY (`repo_uid`) REFERENCES `repos`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tag_uses` (
	`tag_uid` text NOT NULL,
	`kind` integer NOT NULL,
	`hour` integer NOT NULL,
	PRIMARY KEY(`tag_uid`, `kind`),
	FOREIGN KEY (`tag_uid`) REFERENCES `tags`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `tag_uses_hour` ON `tag_uses` (`hour`);--> statement-breakpoint
ALTER TABLE `images` ADD `push_time` integer;