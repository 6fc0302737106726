CREATE TABLE `delivery_attempts` (
	`subscription_uid` text NOT NULL,
	`start_time` integer NOT NULL,
	`duration` integer NOT NULL,
	`event_type` text NOT NULL,
	`event_id` text NOT NULL,
	`http_status` integer NOT NULL,
	`response_line` text NOT NULL,
	`failure` text NOT NULL,
	`is_dropped` integer NOT NULL,
	PRIMARY KEY(`subscription_uid`, `start_time`, `event_id`),
	FOREIGN KEY (`subscription_uid`) REFERENCES `subscriptions`(`uid`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
