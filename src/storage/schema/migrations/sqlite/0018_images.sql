CREATE TABLE `image_children` (
	`parent` integer NOT NULL,
	`child` integer NOT NULL,
	PRIMARY KEY(`parent`, `child`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `image_children_child` ON `image_children` (`child`,`parent`);--> statement-breakpoint
CREATE TABLE `image_packages` (
	`image` integer NOT NULL,
	`package` integer NOT NULL,
	`sources` integer NOT NULL,
	PRIMARY KEY(`image`, `package`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `image_packages_package` ON `image_packages` (`package`,`image`);--> statement-breakpoint
CREATE TABLE `image_queue` (
	`image` integer PRIMARY KEY NOT NULL,
	`due_time` integer,
	`attempts` integer NOT NULL,
	`error` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `image_queue_due` ON `image_queue` (`due_time`);--> statement-breakpoint
CREATE TABLE `image_sboms` (
	`image` integer NOT NULL,
	`name` text NOT NULL,
	`source` integer NOT NULL,
	`digest` text NOT NULL,
	`media_type` text NOT NULL,
	`format` text NOT NULL,
	`tool` text NOT NULL,
	`size` integer NOT NULL,
	`signed` integer NOT NULL,
	`packages` integer NOT NULL,
	`reasons` text NOT NULL,
	`error` text NOT NULL,
	`content` text,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`image`, `name`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `images` (
	`no` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`repo_uid` text NOT NULL,
	`digest` text NOT NULL,
	`architecture` text NOT NULL,
	`contents` integer NOT NULL,
	`create_time` integer NOT NULL,
	`read_time` integer,
	`gone_time` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `images_once` ON `images` (`repo_uid`,`digest`);--> statement-breakpoint
CREATE INDEX `images_gone` ON `images` (`gone_time`) WHERE "gone_time" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `package_findings` (
	`package` integer NOT NULL,
	`advisory_uid` text NOT NULL,
	`group_uid` text NOT NULL,
	`status` integer NOT NULL,
	`vulnerability` text NOT NULL,
	`fixed_versions` text NOT NULL,
	`uncertain` integer NOT NULL,
	`justification` text NOT NULL,
	`first_known_time` integer NOT NULL,
	PRIMARY KEY(`package`, `advisory_uid`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `package_findings_advisory` ON `package_findings` (`advisory_uid`,`package`);--> statement-breakpoint
CREATE TABLE `package_keys` (
	`key` integer NOT NULL,
	`package` integer NOT NULL,
	PRIMARY KEY(`key`, `package`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `package_keys_package` ON `package_keys` (`package`,`key`);--> statement-breakpoint
CREATE TABLE `packages` (
	`no` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`organization` text NOT NULL,
	`purl` text NOT NULL,
	`evaluator` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `packages_once` ON `packages` (`organization`,`purl`);--> statement-breakpoint
CREATE INDEX `packages_evaluator` ON `packages` (`evaluator`,`no`);