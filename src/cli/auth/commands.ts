// `gatehouse auth`: sign-in, sign-out, and credentials for other programs.

import { Argument, type Command, Option, type OptionValues } from "commander";
import { completing } from "../client/completing.ts";
import { clientOptionsOf } from "../client/options.ts";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { clientCommands } from "../command-names.ts";
import { type Format, narrowFormats, rowFormats } from "../output/formats.ts";
import { identities } from "../resources/identities.ts";
import { capabilityNames, groupOption, namesOf } from "../resources/names.ts";
import type { Shell } from "../shell.ts";
import type { KubeletFlags } from "./kubelet.ts";
import type { PullTokenFlags } from "./pull-token.ts";

const tokenFormats: readonly Format[] = ["table", "json", "yaml", "id", "name", "none"];

const explanationFormats: readonly Format[] = ["table", "json", "yaml", "none"];

/** Adds the commands. */
export function addAuthCommands(program: Command, shell: Shell): void {
  const auth = program.command("auth").description(clientCommands.auth);
  addLogin(auth, shell);
  addLogout(auth, shell);
  addStatus(auth, shell);
  addToken(auth, shell);
  addPullToken(auth, shell);
  addDocker(auth, shell);
  addKubelet(auth, shell);
  addCanI(auth, shell);
  addWhoAmI(program, shell);
  addDebug(program, shell);
}

function addLogout(auth: Command, shell: Shell): void {
  const logout = auth.command("logout").description("delete the cached tokens of a server, or those for one audience");
  act(withClient(logout, []), shell, async (session, _args, { audience }) =>
    (await import("./status.ts")).logout(session, audience),
  );
}

function addStatus(auth: Command, shell: Shell): void {
  const status = auth
    .command("status")
    .description("show who you are signed in as")
    .option("--quick", "do not ask the server");
  act(withClient(status, rowFormats), shell, async (session, _args, { quick, audience }) =>
    (await import("./status.ts")).showStatus(session, quick === true, audience),
  );
}

function addToken(auth: Command, shell: Shell): void {
  const token = auth
    .command("token")
    .description("print the token, without a newline, for the headers of other programs")
    // The platform's SDK passes it when it runs this command for a token.
    .option("--issuer <url>", "issuer that renews the token, if it is not the address");
  const audience = new Option(
    "--audience <audience>",
    "what the token is to be for, such as a registry; the API unless given",
  );
  act(withClient(token, [], audience), shell, async (session, _args, options) =>
    (await import("./status.ts")).printToken(session, options.audience),
  );
}

function addWhoAmI(program: Command, shell: Shell): void {
  const whoami = program.command("whoami").description(clientCommands.whoami);
  act(withClient(whoami, narrowFormats), shell, async (session) => (await import("./whoami.ts")).showWhoAmI(session));
}

function addDebug(program: Command, shell: Shell): void {
  const sts = program.command("sts").description(clientCommands.sts);
  const debug = sts
    .command("debug")
    .description("show each check of a token exchange with its outcome, without issuing a token")
    .addOption(
      completing(
        new Option("--identity <name|uid>", "the identity to assume"),
        namesOf(identities),
      ).makeOptionMandatory(),
    )
    .requiredOption("--token-file <path>", "the file with the subject token");
  act(withClient(debug, explanationFormats), shell, async (session, _args, { identity, tokenFile }) =>
    (await import("./explain.ts")).explainExchange(session, identity, tokenFile),
  );
}

function addCanI(auth: Command, shell: Shell): void {
  const canI = auth
    .command("can-i")
    .description("tell whether a capability is granted at a group, and why: exit code 0 for yes, 1 for no")
    .addArgument(completing(new Argument("<capability>", "such as groups.list"), capabilityNames))
    .addOption(groupOption("--group", "the group or repo, or the uid of a resource in a group").makeOptionMandatory())
    .addOption(
      completing(
        new Option("--as <name|uid>", "explain the access of this identity instead of your own"),
        namesOf(identities),
      ),
    );
  act(withClient(canI, explanationFormats), shell, async (session, [capability = ""], options) =>
    (await import("./explain.ts")).explainAccess(session, capability, options.group, options.as),
  );
}

function addLogin(auth: Command, shell: Shell): void {
  const login = auth
    .command("login")
    .description("sign in with a browser, or as a workload with an identity token")
    .option("--identity <uid>", "the identity to assume")
    .option("--identity-token <file|token>", "token of a CI system or cloud to exchange")
    .option("--headless", "sign in with a browser on another device")
    .option("--no-browser", "only print the address")
    .option("--identity-provider <uid>", "sign in with this identity provider (default.identity-provider)")
    .addOption(
      new Option("--org-name <name>", "sign in with the identity provider of this organization").conflicts(
        "identityProvider",
      ),
    )
    .option("--invite-code <code>", "accept an invite")
    .option("--no-refresh", "ask for no refresh token");
  const audience = new Option(
    "--audience <audience>",
    "what the token is to be for; may be repeated, for one sign-in each (GATEHOUSE_AUDIENCE, platform.audience)",
  ).argParser((value, earlier: readonly string[] = []) => [...earlier, value]);
  act(withClient(login, tokenFormats, audience), shell, async (session, _args, options) => {
    // A command that names an organization does not use the default identity provider.
    const everyday = options.orgName === undefined ? session.config["default.identity-provider"] : undefined;
    const identityProvider = options.identityProvider ?? everyday;
    const flags = { ...options, ...(identityProvider !== undefined && { identityProvider: String(identityProvider) }) };
    await (await import("./login.ts")).login(session, flags);
  });
}

function addPullToken(auth: Command, shell: Shell): void {
  const pullToken = auth.command("pull-token").description("credentials for machines that only pull images");
  const create = pullToken
    .command("create", { isDefault: true })
    .description("create a pull token and print how to sign in with it")
    .addOption(groupOption("--parent", "the group to pull from (default.group)"))
    .option("--name <name>", "name of its identity")
    .option("-y, --yes", "do not ask, even if another identity there has this name")
    .option("-d, --description <text>", "description")
    .option("--ttl <time>", "lifetime, at most 8760h", "720h")
    .option("--save", "store it in the configuration of container tools");
  act(withClient(create, tokenFormats), shell, async (session, _args, options) =>
    (await import("./pull-token.ts")).createPullToken(session, options as PullTokenFlags),
  );
  const list = pullToken
    .command("list")
    .description("list the pull tokens that you can see")
    .option("--expired", "list expired ones");
  act(withList(list), shell, async (session, _args, { expired }) =>
    (await import("./pull-token.ts")).listPullTokens(session, expired === true),
  );
}

function addDocker(auth: Command, shell: Shell): void {
  const configure = auth
    .command("configure-docker")
    .description("let container tools sign in to the registry with your token")
    .option("--helper-dir <path>", "directory of the credential helper (~/.local/bin)");
  const audience = () => new Option("--audience <audience>", "service name of the registry, if it is not its host");
  act(withClient(configure, [], audience()), shell, async (session, _args, options) =>
    (await import("./docker.ts")).configureDocker(session, options),
  );
  const helper = auth.command("docker-credential", { hidden: true }).argument("<action>");
  act(withClient(helper, [], audience()), shell, async (session, [action = ""], options) =>
    (await import("./docker-credential.ts")).answerDocker(session, action, options.audience),
  );
}

function addKubelet(auth: Command, shell: Shell): void {
  auth
    .command("kubelet-credential-provider")
    .description("pull images with the tokens of service accounts: write the kubelet's credential provider, or be it")
    .option("--write-script <path>", "write a script that needs /bin/sh and sed only")
    .option("--registry <host>", "the host of the registry, as image names begin")
    .option("--user <uid>", "the identity or group, for service accounts without the annotation gatehouse.dev/identity")
    .action(async (flags: KubeletFlags) => (await import("./kubelet.ts")).provideKubeletCredentials(shell, flags));
}

type Body = (session: Session, args: readonly string[], options: OptionValues) => Promise<void>;

function act(command: Command, shell: Shell, body: Body): void {
  command.action(async () => {
    using session = await openSession(shell, command);
    await body(session, command.args, clientOptionsOf(command));
  });
}
