CREATE TABLE `call_outcomes` (
	`key_digest` text NOT NULL,
	`organization` text,
	`request_digest` text NOT NULL,
	`outcome` text NOT NULL,
	`expire_time` integer NOT NULL,
	PRIMARY KEY(`expire_time`, `key_digest`),
	FOREIGN KEY (`organization`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `call_outcomes_key_digest` ON `call_outcomes` (`key_digest`);--> statement-breakpoint
CREATE INDEX `call_outcomes_organization` ON `call_outcomes` (`organization`);