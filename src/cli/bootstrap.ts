import { operatorRole, ownerRole } from "../authz/built-in-roles.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/settings.ts";
import { checkIssuer } from "../model/issuer-url.ts";
import { isUid, rootOf } from "../model/uid.ts";
import { nameRule, problemOf } from "../pipeline/text-rules.ts";
import { placeOf } from "../server/open-database.ts";
import { preRegisterUser } from "../services/auth/users.ts";
import { createOrganization, hasOrganization, lockOrganizations } from "../services/iam/bootstrap.ts";
import { syncBuiltInRoles } from "../services/iam/roles/built-in-role-rows.ts";
import { userUid } from "../services/iam/users/user-uid.ts";
import { findRow } from "../storage/collection/rows.ts";
import { groupCollection } from "../storage/iam/collections.ts";
import { checkSubject } from "../sts/identity-rules.ts";
import { nextSteps } from "./next-steps.ts";
import { withDatabase } from "./open.ts";

/** The first organization, and the tokens that may assume its owner. */
export interface BootstrapOptions {
  readonly organization: string;
  readonly issuer: string;
  readonly subject: string;
  /** The public address of the future server; empty if it is not set yet. */
  readonly baseUrl: string;
}

/** Throws a ConfigError that names the option with which nobody can sign in. */
function checkPerson(config: Config, { issuer, subject }: Pick<BootstrapOptions, "issuer" | "subject">): void {
  const problem = checkIssuer(issuer, config.dev);
  if (problem !== undefined) throw new ConfigError(`issuer: ${problem}.`);
  const subjectProblem = checkSubject(issuer, subject);
  if (subjectProblem !== undefined) throw new ConfigError(`subject: ${subjectProblem}.`);
}

/**
 * Makes a person an owner of an existing organization, whose owners are gone. An operator who can write the database may do so: the
 * audit log of the organization has the entry.
 */
export async function recoverOwner(config: Config, options: BootstrapOptions): Promise<number> {
  const { organization: uid, issuer, subject } = options;
  checkPerson(config, options);
  const name = await withDatabase(config, "existing", async (database) =>
    database.write({ actor: "", method: "bootstrap", requestId: "", time: Date.now() }, async (tx) => {
      const organization = isUid(uid) && rootOf(uid) === uid ? await findRow(tx, groupCollection, uid) : undefined;
      if (organization) await preRegisterUser(tx, { issuer, subject }, uid, [ownerRole.uid]);
      return organization?.name;
    }),
  );
  if (name === undefined) {
    console.error(`gatehouse: there is no organization with the uid ${JSON.stringify(uid)} at ${placeOf(config)}.`);
    return 1;
  }
  console.log(`owner of ${name}: ${userUid(issuer, subject)}`);
  return 0;
}

/**
 * Creates the first organization. Tokens with this issuer and subject may assume its owner, and a user who signs in as
 * this subject becomes an owner.
 */
export async function bootstrap(config: Config, options: BootstrapOptions): Promise<number> {
  const { organization, issuer, subject, baseUrl } = options;
  const misnomer = problemOf(nameRule, organization);
  if (misnomer !== undefined) throw new ConfigError(`organization: ${misnomer}.`);
  checkPerson(config, options);
  const now = Date.now();
  const created = await withDatabase(config, "create", async (database) => {
    await syncBuiltInRoles(database, now);
    return await database.write({ actor: "", method: "bootstrap", requestId: "", time: now }, async (tx) => {
      await lockOrganizations(tx);
      if (await hasOrganization(tx)) return undefined;
      const made = await createOrganization(tx, organization, { issuer, subject });
      await preRegisterUser(tx, { issuer, subject }, made.groupUid, [ownerRole.uid, operatorRole.uid]);
      return made;
    });
  });
  if (!created) {
    console.error(
      `gatehouse: there is an organization already at ${placeOf(config)}; bootstrap is for an empty database, which ` +
        "--data-dir or --database-url names.",
    );
    return 1;
  }
  console.log(`organization ${created.groupUid}\nowner        ${created.ownerUid}`);
  // Standard output is for the result.
  console.error(nextSteps({ issuer, subject, baseUrl, loginIssuer: config.login?.issuer }));
  return 0;
}
