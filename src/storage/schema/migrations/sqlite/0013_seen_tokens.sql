CREATE TABLE `seen_tokens` (
	`identity_uid` text NOT NULL,
	`digest` text NOT NULL,
	`root_uid` text NOT NULL,
	`claims` text NOT NULL,
	`failed_check` text NOT NULL,
	`is_registry` integer NOT NULL,
	`count` integer NOT NULL,
	`first_time` integer NOT NULL,
	`last_time` integer NOT NULL,
	PRIMARY KEY(`identity_uid`, `digest`),
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `seen_tokens_root` ON `seen_tokens` (`root_uid`,`last_time`);--> statement-breakpoint
CREATE INDEX `seen_tokens_last_time` ON `seen_tokens` (`last_time`);