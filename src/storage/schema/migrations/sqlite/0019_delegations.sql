CREATE TABLE `delegations` (
	`uid` text NOT NULL,
	`kind` text NOT NULL,
	`maker_uid` text,
	`is_installation` integer NOT NULL,
	`capabilities` text NOT NULL,
	`mappings` text NOT NULL,
	`time` integer NOT NULL,
	PRIMARY KEY(`uid`, `kind`),
	FOREIGN KEY (`maker_uid`) REFERENCES `identities`(`uid`) ON UPDATE no action ON DELETE set null
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `delegations_maker` ON `delegations` (`maker_uid`);--> statement-breakpoint
-- The change log says who made what there is; the promise is what the role has, unless the role was changed since. What nobody is
-- known to have made is kept, and is in force again once somebody confirms it.
INSERT INTO delegations (uid, kind, maker_uid, is_installation, capabilities, mappings, time)
SELECT d.uid, 'group_invites', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) THEN i.uid END,
	coalesce(c.actor = '' AND c.method IN ('bootstrap', 'development') AND (r.parent IS NULL OR r.update_time <= c.time), 0),
	coalesce(r.capabilities, '[]'), '[]', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) AND (c.actor <> '' OR c.method IN ('bootstrap', 'development')) THEN c.time ELSE 0 END
FROM group_invites d
LEFT JOIN roles r ON r.uid = d.role_uid
LEFT JOIN (SELECT uid, max(sequence) AS sequence FROM changes WHERE kind = 'group_invites' AND after IS NOT NULL GROUP BY uid) latest ON latest.uid = d.uid
LEFT JOIN changes c ON c.sequence = latest.sequence
LEFT JOIN identities i ON i.uid = c.actor AND i.create_time <= c.time;--> statement-breakpoint
INSERT INTO delegations (uid, kind, maker_uid, is_installation, capabilities, mappings, time)
SELECT d.uid, 'identity_providers', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) THEN i.uid END,
	coalesce(c.actor = '' AND c.method IN ('bootstrap', 'development') AND (r.parent IS NULL OR r.update_time <= c.time), 0),
	coalesce(r.capabilities, '[]'), '[]', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) AND (c.actor <> '' OR c.method IN ('bootstrap', 'development')) THEN c.time ELSE 0 END
FROM identity_providers d
LEFT JOIN roles r ON r.uid = d.default_role
LEFT JOIN (SELECT uid, max(sequence) AS sequence FROM changes WHERE kind = 'identity_providers' AND after IS NOT NULL AND method NOT LIKE '%Scim%' GROUP BY uid) latest ON latest.uid = d.uid
LEFT JOIN changes c ON c.sequence = latest.sequence
LEFT JOIN identities i ON i.uid = c.actor AND i.create_time <= c.time;--> statement-breakpoint
INSERT INTO delegations (uid, kind, maker_uid, is_installation, capabilities, mappings, time)
SELECT d.uid, 'scim_tokens', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) THEN i.uid END,
	coalesce(c.actor = '' AND c.method IN ('bootstrap', 'development') AND (r.parent IS NULL OR r.update_time <= c.time), 0),
	coalesce(r.capabilities, '[]'), '[]', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) AND (c.actor <> '' OR c.method IN ('bootstrap', 'development')) THEN c.time ELSE 0 END
FROM identity_providers d
LEFT JOIN roles r ON r.uid = d.default_role
LEFT JOIN (SELECT uid, max(sequence) AS sequence FROM changes WHERE kind = 'identity_providers' AND after IS NOT NULL AND method LIKE '%enerateScimToken' GROUP BY uid) latest ON latest.uid = d.uid
LEFT JOIN changes c ON c.sequence = latest.sequence
LEFT JOIN identities i ON i.uid = c.actor AND i.create_time <= c.time WHERE d.scim_token_digest IS NOT NULL;--> statement-breakpoint
INSERT INTO delegations (uid, kind, maker_uid, is_installation, capabilities, mappings, time)
SELECT d.uid, 'external_group_role_mappings', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) THEN i.uid END,
	coalesce(c.actor = '' AND c.method IN ('bootstrap', 'development') AND (r.parent IS NULL OR r.update_time <= c.time), 0),
	coalesce(r.capabilities, '[]'), '[]', CASE WHEN (r.parent IS NULL OR r.update_time <= c.time) AND (c.actor <> '' OR c.method IN ('bootstrap', 'development')) THEN c.time ELSE 0 END
FROM external_group_role_mappings d
LEFT JOIN roles r ON r.uid = d.role_uid
LEFT JOIN (SELECT uid, max(sequence) AS sequence FROM changes WHERE kind = 'external_group_role_mappings' AND after IS NOT NULL GROUP BY uid) latest ON latest.uid = d.uid
LEFT JOIN changes c ON c.sequence = latest.sequence
LEFT JOIN identities i ON i.uid = c.actor AND i.create_time <= c.time;--> statement-breakpoint
INSERT INTO delegations (uid, kind, maker_uid, is_installation, capabilities, mappings, time)
SELECT d.uid, 'subscriptions', i.uid,
	coalesce(c.actor = '' AND c.method IN ('bootstrap', 'development'), 0),
	'[1501]', '[]', CASE WHEN (c.actor <> '' OR c.method IN ('bootstrap', 'development')) THEN c.time ELSE 0 END
FROM subscriptions d
LEFT JOIN (SELECT uid, max(sequence) AS sequence FROM changes WHERE kind = 'subscriptions' AND after IS NOT NULL GROUP BY uid) latest ON latest.uid = d.uid
LEFT JOIN changes c ON c.sequence = latest.sequence
LEFT JOIN identities i ON i.uid = c.actor AND i.create_time <= c.time;--> statement-breakpoint
INSERT INTO delegations (uid, kind, maker_uid, is_installation, capabilities, mappings, time)
SELECT d.uid, 'identities', i.uid,
	coalesce(c.actor = '' AND c.method IN ('bootstrap', 'development'), 0),
	'[]', '[]', CASE WHEN (c.actor <> '' OR c.method IN ('bootstrap', 'development')) THEN c.time ELSE 0 END
FROM identities d
LEFT JOIN (SELECT uid, max(sequence) AS sequence FROM changes WHERE kind = 'identities' AND after IS NOT NULL AND (before IS NULL OR json_extract(before, '$.relationship') IS NOT json_extract(after, '$.relationship')) GROUP BY uid) latest ON latest.uid = d.uid
LEFT JOIN changes c ON c.sequence = latest.sequence
LEFT JOIN identities i ON i.uid = c.actor AND i.create_time <= c.time WHERE d.relationship_type = 2;