CREATE TABLE `call_outcomes` (
	`key_digest` text PRIMARY KEY NOT NULL,
	`organization` text,
	`request_digest` text NOT NULL,
	`outcome` text NOT NULL,
	`expire_time` integer NOT NULL,
	FOREIGN KEY (`organization`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `call_outcomes_organization` ON `call_outcomes` (`organization`);--> statement-breakpoint
CREATE INDEX `call_outcomes_expire_time` ON `call_outcomes` (`expire_time`);