// Development mode: sample data, and files with the owner's tokens.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Logger } from "pino";
import { TokenError } from "../../authn/token-error.ts";
import { builtInRoles } from "../../authz/built-in-roles.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { makeDirectory } from "../../base/directories.ts";
import { errorMessage } from "../../base/system-error.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/settings.ts";
import { preRegisterUser } from "../../services/auth/users.ts";
import {
  createGroup,
  createOrganization,
  hasOrganization,
  lockOrganizations,
  type Organization,
} from "../../services/iam/bootstrap.ts";
import { insertAdvisory } from "../../services/vulnerabilities/advisories/insert-advisory.ts";
import type { Database } from "../../storage/database.ts";
import { readSetting, writeSetting } from "../../storage/engine/settings.ts";
import { every } from "../every.ts";
import { issueOwnerToken } from "../owner-token.ts";
import type { UnopenedServer } from "../start-hooks.ts";
import { developmentPath } from "./login-provider.ts";
import { ownerTokenFiles } from "./owner-token-files.ts";
import { characters } from "./person-chooser.ts";
import { insertSampleAccess } from "./samples/access.ts";
import { generateAdvisories } from "./samples/advisories.ts";
import { insertSampleRepos } from "./samples/repos.ts";
import { insertSampleSignIn } from "./samples/sign-in.ts";
import { insertSampleSubscription } from "./samples/subscription.ts";

/** Half of a token's lifetime. */
const renewalMs = 30 * 60 * 1000;

/** How often the age of the tokens is checked: timers stop while a machine sleeps, but its clock continues. */
const lookMs = 1000;

/** A reserved name that no real issuer can have. */
const sampleOwner = { issuer: "https://issuer.example.org", subject: "owner" };

/** The setting that marks the data of a development server and holds the uid of the sample organization. */
const sampleSetting = "sample_organization";

/** The development environment. */
export interface Development extends AsyncDisposable {
  readonly organization: Organization;
  /** The file with the owner's token for the API. */
  readonly tokenFile: string;
}

/** Throws a ConfigError unless the data belongs to a development server, or is empty. */
export async function checkData(database: Database): Promise<void> {
  await database.read(async (session) => {
    if ((await readSetting(session, sampleSetting)) === undefined && (await hasOrganization(session)))
      throw notSample();
  });
}

function notSample(): ConfigError {
  return new ConfigError("dev: the data is not that of a development server; choose another data directory.");
}

/**
 * Creates the sample data at the first start, and keeps valid owner tokens in the data directory: one for the API, one
 * for the registry. Throws a ConfigError if a file cannot be written; later failures are logged.
 */
export async function openDevelopment(
  config: Config,
  server: UnopenedServer,
  log: Logger,
  clock: Clock = systemClock,
): Promise<Development> {
  const organization = await sampleOrganization(server);
  if (!config.login) await enrolCharacters(config, server, organization.groupUid);
  const tokenFile = path.join(config.dataDir, ownerTokenFiles.api);
  const registryTokenFile = path.join(config.dataDir, ownerTokenFiles.registry);
  const renew = async () => {
    // Not into the data of another server, which replaced the database of this one.
    await server.database.check();
    const request = { ...config, ownerUid: organization.ownerUid, owner: sampleOwner };
    for (const [audience, file] of [
      [config.baseUrl, tokenFile],
      [config.registry.service, registryTokenFile],
    ] as const)
      writeToken(file, (await issueOwnerToken(server, { ...request, audience })).token);
  };
  const renewedAt = clock();
  await renew();
  const areValid = async () => {
    if (!existsSync(tokenFile) || !existsSync(registryTokenFile)) return false;
    try {
      // The token for the registry has another audience, but was signed by the same key at the same time.
      await server.tokens.verify(readFileSync(tokenFile, "utf8"));
      return true;
    } catch (error) {
      if (error instanceof TokenError) return false;
      throw error;
    }
  };
  const renewal = keepRenewing(renew, renewedAt, areValid, log, clock);
  return { organization, tokenFile, [Symbol.asyncDispose]: () => renewal[Symbol.asyncDispose]() };
}

/** Renews the tokens before they expire, and immediately if they are gone or no longer valid: their signing key may have been retired. */
function keepRenewing(
  renew: () => Promise<void>,
  renewedAt: number,
  areValid: () => Promise<boolean>,
  log: Logger,
  clock: Clock,
): AsyncDisposable {
  const look = async () => {
    const now = clock();
    const age = now - renewedAt;
    // If the clock was set back, tokens seem to be from the future.
    if (age >= 0 && age < renewalMs && (await areValid())) return;
    await renew();
    renewedAt = now;
  };
  const logFailure = (error: unknown) => log.error({ err: error }, "renewing the development owner's tokens failed");
  return every(lookMs, look, { logFailure });
}

async function sampleOrganization({ database }: UnopenedServer): Promise<Organization> {
  return await database.write({ actor: "", method: "development", requestId: "", time: Date.now() }, async (tx) => {
    await lockOrganizations(tx);
    const known = await readSetting(tx, sampleSetting);
    if (known !== undefined) return JSON.parse(known) as Organization;
    if (await hasOrganization(tx)) throw notSample();
    const organization = await createOrganization(tx, "example.org", sampleOwner);
    const engineering = await createGroup(tx, organization.groupUid, "engineering", "Builds the product");
    await createGroup(tx, engineering.uid, "platform", "Runs what engineering builds");
    const security = await createGroup(tx, organization.groupUid, "security", "Watches over both");
    await insertSampleAccess(tx, organization.groupUid);
    await insertSampleSignIn(tx, organization);
    // Its sink does not exist, so its deliveries would fail with every change.
    await insertSampleSubscription(tx, security.uid);
    await insertSampleRepos(tx, organization.groupUid);
    for (const advisory of generateAdvisories("development", 8)) {
      await insertAdvisory(tx, organization.groupUid, advisory);
    }
    await writeSetting(tx, sampleSetting, JSON.stringify(organization));
    return organization;
  });
}

/** Their issuer follows the base URL: with another base URL, the characters of the sign-in page are other identities. */
async function enrolCharacters({ baseUrl }: Config, { database }: UnopenedServer, groupUid: string): Promise<void> {
  const issuer = baseUrl + developmentPath;
  await database.write({ actor: "", method: "development", requestId: "", time: Date.now() }, async (tx) => {
    for (const { name: subject, roles } of characters) {
      const roleUids = builtInRoles.filter((role) => roles.includes(role.name)).map(({ uid }) => uid);
      await preRegisterUser(tx, { issuer, subject }, groupUid, roleUids);
    }
  });
}

function writeToken(file: string, token: string): void {
  try {
    makeDirectory(path.dirname(file));
    // Readers see the old or the new token, never a part.
    writeFileSync(`${file}.new`, token, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new ConfigError(`data-dir: ${file} cannot be written: ${errorMessage(error)}.`);
  }
}
