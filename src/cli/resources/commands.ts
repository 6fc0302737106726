// The commands of every resource: `gatehouse iam groups list` and so on.
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { type Format, rowFormats } from "../output/formats.ts";
import type { Shell } from "../shell.ts";
import { addAccessCommands } from "./access-commands.ts";
import { addAccessRequestCommands } from "./access-request-commands.ts";
import { addAccessReviewCommands } from "./access-review-commands.ts";
import { addAttemptCommands } from "./attempt-commands.ts";
import { addCapabilityCommands } from "./capability-commands.ts";
import { addDelegationCommands } from "./delegation-commands.ts";
import { addDeliveryCommands } from "./delivery-commands.ts";
import { addMembershipCommands } from "./membership-commands.ts";
import { groupOption, namesOf } from "./names.ts";
import { type Flag, type FlagValue, hasSiblingNames, type Options, type Resource, type Verb } from "./resource.ts";
import { roles } from "./roles.ts";
import { addScimCommands } from "./scim-commands.ts";
import { subscriptions } from "./subscriptions.ts";
import { addTermsCommands } from "./terms-commands.ts";
import { addUserCommands } from "./user-commands.ts";

/** Adds the commands of these resources to the chapters that their paths begin with. */
export function addResourceCommands(program: Command, shell: Shell, needed: readonly Resource[]): void {
  for (const resource of needed) {
    const words = resource.path.split(" ");
    const parent = words.length === 1 ? program : program.commands.find((command) => command.name() === words[0])!;
    const command = parent.command(words.at(-1)!).description(`${resource.view.noun}: ${resource.verbs.join(", ")}`);
    for (const verb of resource.verbs) adders[verb](command, resource, shell);
    if (resource === roles) addCapabilityCommands(command, shell);
    if (resource === subscriptions) {
      addDeliveryCommands(command, shell);
      addAttemptCommands(command, shell);
    }
  }
}

/** Adds the commands of `iam` that are not verbs of a resource. */
export function addIamCommands(iam: Command, shell: Shell): void {
  addScimCommands(iam, shell);
  addTermsCommands(iam, shell);
  addDelegationCommands(iam, shell);
  addUserCommands(iam, shell);
  addMembershipCommands(iam, shell);
  addAccessCommands(iam, shell);
  addAccessRequestCommands(iam, shell);
  addAccessReviewCommands(iam, shell);
}

const drowFormats: readonly Format[] = ["table", "id", "name", "none"];

type Adder = (command: Command, resource: Resource, shell: Shell) => void;

const adders: Readonly<Record<Verb, Adder>> = {
  list(parent, resource, shell) {
    const command = withList(parent.command("list").description(`list ${resource.view.noun} that you can see`));
    const place = resource.holder ? `of ${resource.holder.noun} directly` : "directly";
    command.addOption(groupOption("--parent", `only those ${place} below this group`));
    command.option("--recursive", "with --parent, those anywhere below it");
    addFlags(command, resource.filters ?? [], false);
    command.addOption(new Option("--watch", "then print each change, until interrupted").conflicts(["limit", "sort"]));
    command.action(async () => {
      const options = command.opts<Record<string, FlagValue>>();
      if (options.watch === true)
        return await (await import("./watch.ts")).watchResources(() => openSession(shell, command), resource, options);
      using session = await openSession(shell, command);
      await (await import("./listing.ts")).listResources(session, resource, options);
    });
  },
  describe(parent, resource, shell) {
    const command = parent
      .command("describe")
      .description(`show one ${resource.noun} and related resources`)
      .addArgument(nameArgument(resource));
    act(withClient(command, rowFormats), shell, async (session, [text = ""]) =>
      (await verbs()).describeResource(session, resource, text),
    );
  },
  create(parent, resource, shell) {
    const command = parent.command("create").description(`create one ${resource.noun}`);
    // A file may contain it as well.
    if (resource.argument) command.argument(`[${resource.argument.name}]`);
    if (resource.parent === "group")
      command.addOption(groupOption("--parent", "the group to create it in (default.group)"));
    else if (resource.parent !== "none")
      addFlags(command, [{ ...resource.parent, refersTo: resource.parent.resource, required: true }], true);
    addFlags(
      command,
      [...resource.fields, ...(resource.completing ?? [])].filter(({ only }) => only !== "update"),
      true,
    );
    command.option(
      "-f, --file <path>",
      "a file of JSON or YAML with its fields, as the API has them; - for standard input",
    );
    addSiblingFlag(command, resource);
    act(withClient(command, rowFormats), shell, async (session, [argument], options) =>
      (await verbs()).createResource(session, resource, argument, options),
    );
  },
  update(parent, resource, shell) {
    const command = parent
      .command("update")
      .description(`change one ${resource.noun}`)
      .addArgument(nameArgument(resource));
    addFlags(
      command,
      [...resource.fields, ...(resource.completing ?? [])].filter(({ only }) => only !== "create"),
      false,
    );
    command.option(
      "-f, --file <path>",
      "a file of JSON or YAML with the fields to change, as the API has them; - for standard input",
    );
    addSiblingFlag(command, resource);
    act(withClient(command, rowFormats), shell, async (session, [text = ""], options) =>
      (await verbs()).updateResource(session, resource, text, options),
    );
  },
  delete(parent, resource, shell) {
    const command = parent
      .command("delete")
      .description(`delete ${resource.view.noun}`)
      .addArgument(nameArgument(resource, "<name|uid...>"));
    command.option("-y, --yes", "do not ask");
    if (resource.type === "Group")
      command.option("--recursive", "delete everything in it and its subgroups, too, all or nothing");
    act(withClient(command, drowFormats), shell, async (session, texts, options) =>
      (await verbs()).deleteResources(session, resource, texts, options),
    );
  },
};

function addSiblingFlag(command: Command, resource: Resource): void {
  if (hasSiblingNames(resource)) command.option("-y, --yes", "do not ask, even if another one there has this name");
}

/** Returns the argument that names one or several resources. */
function nameArgument(resource: Resource, text = "<name|uid>"): Argument {
  return completing(
    new Argument(text, text.includes("...") ? `the ${resource.view.noun}` : `the ${resource.noun}`),
    namesOf(resource),
  );
}

function addFlags(command: Command, flags: readonly Partial<Flag>[], isCreate: boolean): void {
  for (const flag of flags) {
    const {
      flags: text = "",
      description = "",
      required,
      fallback,
      choices,
      conflicts = [],
      refersTo,
      completer,
    } = flag;
    const option = new Option(text, description).conflicts([...conflicts]);
    const offers = completer ?? (refersTo && namesOf(refersTo()));
    if (offers) completing(option, offers);
    if (choices) option.choices(choices);
    if (isCreate && fallback !== undefined) option.default(fallback);
    command.addOption(option.makeOptionMandatory(isCreate && required === true));
  }
}

type Body = (session: Session, args: readonly string[], options: Options) => Promise<void>;

function act(command: Command, shell: Shell, body: Body): void {
  command.action(async (...given) => {
    // Commander passes the arguments, then the flags, then the command.
    const args = (given.slice(0, -2) as (string | string[] | undefined)[]).flat() as string[];
    using session = await openSession(shell, command);
    await body(session, args, command.opts<Record<string, FlagValue>>());
  });
}

function verbs() {
  return import("./verbs.ts");
}
