CREATE TABLE `access_request_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_request_entries_create_time` ON `access_request_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `access_request_entries_update_time` ON `access_request_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `access_request_rule_entries` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_request_rule_entries_create_time` ON `access_request_rule_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `access_request_rule_entries_update_time` ON `access_request_rule_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `access_request_rules` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`role_uids` text NOT NULL,
	`max_duration` integer NOT NULL,
	`decision_time` integer NOT NULL,
	`required_approvals` integer NOT NULL,
	`eligible_role_uids` text NOT NULL,
	`eligible_identity_uids` text NOT NULL,
	`approver_role_uids` text NOT NULL,
	`approver_identity_uids` text NOT NULL,
	`reason_pattern` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_request_rules_parent` ON `access_request_rules` (`parent`,`uid`);--> statement-breakpoint
CREATE TABLE `access_requests` (
	`uid` text PRIMARY KEY NOT NULL,
	`parent` text NOT NULL,
	`rule_uid` text NOT NULL,
	`identity_uid` text NOT NULL,
	`role_uid` text NOT NULL,
	`duration` integer NOT NULL,
	`reason` text NOT NULL,
	`state` text NOT NULL,
	`decisions` text NOT NULL,
	`session` text NOT NULL,
	`decide_before_time` integer NOT NULL,
	`due_time` integer,
	`start_time` integer,
	`expire_time` integer,
	`role_binding_uid` text,
	`own_expire_time` integer,
	`create_time` integer NOT NULL,
	FOREIGN KEY (`parent`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `access_requests_parent` ON `access_requests` (`parent`,`uid`);--> statement-breakpoint
CREATE INDEX `access_requests_identity` ON `access_requests` (`identity_uid`,`create_time`);--> statement-breakpoint
CREATE INDEX `access_requests_binding` ON `access_requests` (`role_binding_uid`);--> statement-breakpoint
CREATE INDEX `access_requests_due` ON `access_requests` (`due_time`) WHERE "due_time" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `access_requests_open` ON `access_requests` (`uid`) WHERE "due_time" IS NOT NULL;