-- Nothing refers to the table, so that foreign keys may stay in force while it is made anew.
CREATE TABLE `__new_provider_members` (
	`provider_uid` text NOT NULL,
	`identity_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`provider_uid`, `identity_uid`),
	FOREIGN KEY (`provider_uid`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_provider_members`("provider_uid", "identity_uid", "create_time") SELECT "provider_uid", "identity_uid", "create_time" FROM `provider_members`;--> statement-breakpoint
DROP TABLE `provider_members`;--> statement-breakpoint
ALTER TABLE `__new_provider_members` RENAME TO `provider_members`;--> statement-breakpoint
CREATE INDEX `provider_members_identity` ON `provider_members` (`identity_uid`);