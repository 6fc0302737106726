// `gatehouse images sboms`: the SBOMs of an image, and the upload of others.
import { gunzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command } from "commander";
import { openSession, type Session, withClient, withList } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { textAt } from "../resources/json.ts";
import { note, type Shell } from "../shell.ts";
import { findImage, type ImageName, imageArgument } from "./image-name.ts";

const view: View = {
  noun: "SBOMs",
  id: "name",
  columns: [
    { title: "name", value: ({ name }) => shortName(String(name ?? "")) },
    { title: "platform", value: "architecture" },
    { title: "format", value: "format" },
    { title: "tool", value: "tool" },
    { title: "packages", value: ({ packages }) => String(packages ?? 0) },
    { title: "signed", value: ({ signed }) => (signed === true ? "not verified" : "") },
    { title: "problem", value: "error" },
    { title: "size", value: "size", wide: true },
    { title: "found", value: "createTime", wide: true },
    { title: "full name", value: "name", wide: true },
    { title: "image", value: "imageDigest", wide: true },
  ],
};

/** Adds the commands. */
export function addSbomCommands(images: Command, shell: Shell): void {
  const sboms = images.command("sboms").description("SBOMs of images");
  const list = sboms.command("list").description("list the SBOMs of an image").addArgument(imageArgument());
  withList(list, rowFormats).action(async (image: string) => {
    using session = await openSession(shell, list);
    const { sboms: rows, error = "" } = await listSboms(session, await findImage(session, image));
    await session.output.list(view, session.output.arrange(view, rows, "as it is"));
    if (error !== "") note(shell, `The registry could not be read: ${error}`);
  });
  const get = withName(sboms.command("get").description("print an SBOM as it was uploaded or found"));
  withClient(get, []).action(async (image: string, name: string) => {
    using session = await openSession(shell, get);
    shell.stdout.write(await contentOf(session, await findSbom(session, image, name)));
  });
  const put = sboms
    .command("put")
    .description("add an SBOM to an image, such as that of `syft IMAGE -o cyclonedx-json`")
    .addArgument(imageArgument())
    .addArgument(
      new Argument("[file]", "CycloneDX or SPDX, as JSON; standard input if it is - or absent").default("-"),
    );
  withClient(put).action(async (image: string, file: string) => {
    using session = await openSession(shell, put);
    await putSbom(session, await findImage(session, image), file);
  });
  const remove = withName(sboms.command("delete").description("delete an uploaded SBOM"));
  withClient(remove, []).action(async (image: string, name: string) => {
    using session = await openSession(shell, remove);
    const found = await findSbom(session, image, name);
    await session.call((await methods()).deleteSbom, found);
  });
}

function withName(command: Command): Command {
  return command
    .addArgument(imageArgument())
    .addArgument(new Argument("<name>", "the name in the list, or the beginning of it or of the digest"));
}

async function methods() {
  return (await import("../../../gen/gatehouse/registry/v1/image_contents_pb.ts")).ImageContentsService.method;
}

async function listSboms(session: Session, image: ImageName): Promise<{ sboms: JsonObject[]; error?: string }> {
  const { sboms, error } = await session.call((await methods()).listSboms, { ...image });
  return { sboms: (sboms as JsonObject[] | undefined) ?? [], error: typeof error === "string" ? error : "" };
}

/** Finds the SBOM whose name begins with a text, with or without its source. */
async function findSbom(session: Session, imageText: string, text: string): Promise<JsonObject> {
  const image = await findImage(session, imageText);
  const { sboms } = await listSboms(session, image);
  const isNamed = ({ name }: JsonObject) =>
    [String(name), String(name).replace(/^[a-z]+:/, ""), shortName(String(name))].some((each) => each.startsWith(text));
  const [found, other] = sboms.filter(isNamed);
  if (other) throw wrongUsage(`several SBOMs begin with ${JSON.stringify(text)}`, "Write more of the name.");
  if (!found)
    throw new CommandFailure(`the image has no SBOM ${JSON.stringify(text)}`, {
      hint: `See \`gatehouse images sboms list ${imageText}\`.`,
    });
  return { repoUid: image.repoUid, digest: textAt(found, "imageDigest"), name: textAt(found, "name") };
}

/** Returns a name with the beginning of its digest: `upload:0096ab12cd34`. */
function shortName(name: string): string {
  return name.replace(/:sha256:([0-9a-f]{12}).*$/, ":$1");
}

async function contentOf(session: Session, sbom: JsonObject): Promise<Buffer> {
  const { content, compression } = await session.call((await methods()).getSbomContent, sbom);
  const bytes = Buffer.from(String(content ?? ""), "base64");
  if (compression === "SBOM_COMPRESSION_ZSTD") return zstdDecompressSync(bytes);
  return compression === "SBOM_COMPRESSION_GZIP" ? gunzipSync(bytes) : bytes;
}

async function putSbom(session: Session, image: ImageName, file: string): Promise<void> {
  const { readInput } = await import("../input.ts");
  const content = zstdCompressSync(await readInput(session.shell, file)).toString("base64");
  const request = { ...image, content, compression: "SBOM_COMPRESSION_ZSTD" };
  await session.output.one(view, await session.call((await methods()).putSbom, request));
}
