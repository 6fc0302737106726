DROP INDEX "identities_issuer_subject";--> statement-breakpoint
CREATE INDEX "identities_issuer_subject" ON "identities" USING btree ("issuer","subject","uid");