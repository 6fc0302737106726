// `gatehouse images packages`, and the other commands about images.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { openSession, withList } from "../client/session.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { type Finish, note, type Shell } from "../shell.ts";
import { addFindingCommands } from "./finding-commands.ts";
import { findImage, imageArgument } from "./image-name.ts";
import { completeness, readAllPages } from "./pages.ts";
import { addSbomCommands } from "./sbom-commands.ts";
import { addUseCommands } from "./use-commands.ts";

const packageView: View = {
  noun: "packages",
  id: "purl",
  columns: [
    { title: "package", value: "purl" },
    { title: "named by", value: ({ sources }) => sourceNames(sources) },
  ],
};

/** Adds the commands about images. */
export function addImageCommands(images: Command, shell: Shell, finish: Finish): void {
  const packages = images
    .command("packages")
    .description("list the packages of an image, by its SBOMs")
    .addArgument(imageArgument())
    .addOption(new Option("--architecture <name>", "only this platform of an index, such as amd64"));
  withList(packages, rowFormats).action(async (image: string) => {
    using session = await openSession(shell, packages);
    const { architecture } = packages.opts<{ architecture?: string }>();
    const request = { ...(await findImage(session, image)), ...(architecture !== undefined && { architecture }) };
    const { rows, last } = await readAllPages(session, (await methods()).listImagePackages, "packages", request);
    await session.output.list(packageView, session.output.arrange(packageView, rows, "as it is"));
    note(shell, completeness(last));
  });
  addFindingCommands(images, shell, finish);
  addSbomCommands(images, shell);
  addUseCommands(images, shell);
}

async function methods() {
  return (await import("../../../gen/gatehouse/registry/v1/image_contents_pb.ts")).ImageContentsService.method;
}

function sourceNames(sources: JsonObject[string] | undefined): string {
  const all = Array.isArray(sources) ? sources : [];
  return all.map((source) => String(source).replace("SBOM_SOURCE_", "").toLowerCase()).join(",");
}
