CREATE TABLE `memberships` (
	`identity_uid` text NOT NULL,
	`group_uid` text NOT NULL,
	`create_time` integer NOT NULL,
	PRIMARY KEY(`identity_uid`, `group_uid`),
	FOREIGN KEY (`identity_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`group_uid`) REFERENCES `groups`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `memberships_group` ON `memberships` (`group_uid`);--> statement-breakpoint
-- Until now every binding of a person who has registered showed who they are: what is there stays as it is.
INSERT INTO memberships (identity_uid, group_uid, create_time)
SELECT DISTINCT i.uid, substr(b.parent, 1, 40), i.create_time FROM role_bindings b INNER JOIN identities i ON i.uid = b.identity_uid
WHERE i.uid NOT LIKE '%/%' AND i.issuer <> '';