INSERT INTO `counters` (`key`, `kind`, `count`)
SELECT `provider_uid` || '/*', 'scim_groups', count(*) FROM `scim_groups` GROUP BY `provider_uid`;
--> statement-breakpoint
INSERT INTO `counters` (`key`, `kind`, `count`)
SELECT `provider_uid` || '/*', 'scim_users', count(*) FROM `scim_users` GROUP BY `provider_uid`;
