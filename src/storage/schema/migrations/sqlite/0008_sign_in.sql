CREATE TABLE `headless_sessions` (
	`code` text PRIMARY KEY NOT NULL,
	`public_key` text NOT NULL,
	`encrypted_token` text NOT NULL,
	`expire_time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `headless_sessions_expire_time` ON `headless_sessions` (`expire_time`);--> statement-breakpoint
CREATE TABLE `provider_members` (
	`provider_uid` text NOT NULL,
	`identity_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`provider_uid`, `identity_uid`),
	FOREIGN KEY (`provider_uid`) REFERENCES `identity_providers`(`uid`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `provider_members_identity` ON `provider_members` (`identity_uid`);--> statement-breakpoint
CREATE TABLE `refresh_families` (
	`id` text PRIMARY KEY NOT NULL,
	`identity_uid` text NOT NULL,
	`digest` text NOT NULL,
	`sign_in` text NOT NULL,
	`create_time` integer NOT NULL,
	`expire_time` integer NOT NULL,
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `refresh_families_identity` ON `refresh_families` (`identity_uid`,`create_time`);--> statement-breakpoint
CREATE INDEX `refresh_families_expire_time` ON `refresh_families` (`expire_time`);--> statement-breakpoint
CREATE TABLE `sign_ins` (
	`id` text PRIMARY KEY NOT NULL,
	`browser_digest` text NOT NULL,
	`sealed` text NOT NULL,
	`expire_time` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sign_ins_expire_time` ON `sign_ins` (`expire_time`);