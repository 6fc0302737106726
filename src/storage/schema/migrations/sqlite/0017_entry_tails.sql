-- Of a uid an entry has what its key does not tell.
CREATE TABLE `group_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `group_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `group_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `group_entries`;--> statement-breakpoint
ALTER TABLE `group_entries_new` RENAME TO `group_entries`;--> statement-breakpoint
CREATE INDEX `group_entries_create_time` ON `group_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `group_entries_update_time` ON `group_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `identity_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `identity_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `identity_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `identity_entries`;--> statement-breakpoint
ALTER TABLE `identity_entries_new` RENAME TO `identity_entries`;--> statement-breakpoint
CREATE INDEX `identity_entries_create_time` ON `identity_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `identity_entries_update_time` ON `identity_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `role_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `role_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `role_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `role_entries`;--> statement-breakpoint
ALTER TABLE `role_entries_new` RENAME TO `role_entries`;--> statement-breakpoint
CREATE INDEX `role_entries_create_time` ON `role_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `role_entries_update_time` ON `role_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `role_binding_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `role_binding_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `role_binding_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `role_binding_entries`;--> statement-breakpoint
ALTER TABLE `role_binding_entries_new` RENAME TO `role_binding_entries`;--> statement-breakpoint
CREATE INDEX `role_binding_entries_create_time` ON `role_binding_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `role_binding_entries_update_time` ON `role_binding_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `group_invite_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `group_invite_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `group_invite_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `group_invite_entries`;--> statement-breakpoint
ALTER TABLE `group_invite_entries_new` RENAME TO `group_invite_entries`;--> statement-breakpoint
CREATE INDEX `group_invite_entries_create_time` ON `group_invite_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `group_invite_entries_update_time` ON `group_invite_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `account_association_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `account_association_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `account_association_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `account_association_entries`;--> statement-breakpoint
ALTER TABLE `account_association_entries_new` RENAME TO `account_association_entries`;--> statement-breakpoint
CREATE INDEX `account_association_entries_create_time` ON `account_association_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `account_association_entries_update_time` ON `account_association_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `repo_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `repo_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `repo_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `repo_entries`;--> statement-breakpoint
ALTER TABLE `repo_entries_new` RENAME TO `repo_entries`;--> statement-breakpoint
CREATE INDEX `repo_entries_create_time` ON `repo_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `repo_entries_update_time` ON `repo_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `tag_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `tag_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `tag_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `tag_entries`;--> statement-breakpoint
ALTER TABLE `tag_entries_new` RENAME TO `tag_entries`;--> statement-breakpoint
CREATE INDEX `tag_entries_create_time` ON `tag_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `tag_entries_update_time` ON `tag_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `advisory_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `advisory_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `advisory_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `advisory_entries`;--> statement-breakpoint
ALTER TABLE `advisory_entries_new` RENAME TO `advisory_entries`;--> statement-breakpoint
CREATE INDEX `advisory_entries_create_time` ON `advisory_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `advisory_entries_update_time` ON `advisory_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `subscription_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `subscription_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `subscription_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `subscription_entries`;--> statement-breakpoint
ALTER TABLE `subscription_entries_new` RENAME TO `subscription_entries`;--> statement-breakpoint
CREATE INDEX `subscription_entries_create_time` ON `subscription_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `subscription_entries_update_time` ON `subscription_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `identity_provider_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `identity_provider_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `identity_provider_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `identity_provider_entries`;--> statement-breakpoint
ALTER TABLE `identity_provider_entries_new` RENAME TO `identity_provider_entries`;--> statement-breakpoint
CREATE INDEX `identity_provider_entries_create_time` ON `identity_provider_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `identity_provider_entries_update_time` ON `identity_provider_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `external_group_role_mapping_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `external_group_role_mapping_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `external_group_role_mapping_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `external_group_role_mapping_entries`;--> statement-breakpoint
ALTER TABLE `external_group_role_mapping_entries_new` RENAME TO `external_group_role_mapping_entries`;--> statement-breakpoint
CREATE INDEX `external_group_role_mapping_entries_create_time` ON `external_group_role_mapping_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `external_group_role_mapping_entries_update_time` ON `external_group_role_mapping_entries` (`key`,`update_time`,`tail`);--> statement-breakpoint
CREATE TABLE `terms_acceptance_entries_new` (
	`key` text NOT NULL,
	`tail` text NOT NULL,
	`name` text NOT NULL,
	`create_time` integer NOT NULL,
	`update_time` integer NOT NULL,
	PRIMARY KEY(`key`, `name`, `tail`)
) STRICT, WITHOUT ROWID;--> statement-breakpoint
INSERT INTO `terms_acceptance_entries_new` (`key`, `tail`, `name`, `create_time`, `update_time`)
	SELECT `key`, substr(`uid`, length(rtrim(`key`, '/*')) + 1), `name`, `create_time`, `update_time`
	FROM `terms_acceptance_entries` ORDER BY `key`, `name`, `uid`;--> statement-breakpoint
DROP TABLE `terms_acceptance_entries`;--> statement-breakpoint
ALTER TABLE `terms_acceptance_entries_new` RENAME TO `terms_acceptance_entries`;--> statement-breakpoint
CREATE INDEX `terms_acceptance_entries_create_time` ON `terms_acceptance_entries` (`key`,`create_time`,`tail`);--> statement-breakpoint
CREATE INDEX `terms_acceptance_entries_update_time` ON `terms_acceptance_entries` (`key`,`update_time`,`tail`);
