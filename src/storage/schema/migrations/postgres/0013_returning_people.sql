ALTER TABLE "provider_members" DROP CONSTRAINT "provider_members_identity_uid_identities_uid_fk";
