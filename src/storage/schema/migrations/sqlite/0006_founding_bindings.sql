CREATE TABLE `founding_bindings` (
	`uid` text PRIMARY KEY NOT NULL,
	FOREIGN KEY (`uid`) REFERENCES `role_bindings`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `founding_bindings` (`uid`)
SELECT b.`uid` FROM `role_bindings` b
JOIN `groups` g ON g.`uid` = b.`parent` AND g.`create_time` = b.`create_time`
JOIN `roles` r ON r.`uid` = b.`role_uid` AND r.`parent` IS NULL AND r.`name` = 'owner'
WHERE g.`parent` IS NULL AND b.`identity_uid` LIKE '%/%';
