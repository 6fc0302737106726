// The configuration of an image, as the published method returns it.
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ImageConfigSchema } from "../../../../gen/chainguard/platform/registry/v1/image_contents_pb.ts";
import { failedPrecondition, notFound } from "../../../aip/errors.ts";
import { imageType } from "../contents/family.ts";
import { contentLimits } from "../contents/limits.ts";
import type { ImageConfiguration } from "../contents/registry-content.ts";
import type { NamedImage, SbomContext } from "./image-sbom.ts";
import { defaultArchitecture, requirePlatform } from "./platform.ts";

/** Reads the configuration of an image from the registry. */
export async function imageConfig(
  { database, registry }: SbomContext,
  { repoId, digest, arch }: NamedImage,
): Promise<MessageInitShape<typeof ImageConfigSchema>> {
  await database.read((session) => requirePlatform(session, repoId, digest, arch));
  if (!registry)
    throw failedPrecondition("NO_REGISTRY", "configurations are in the registry, and this server reads none", digest);
  const architecture = arch || defaultArchitecture;
  const configuration = await registry.readConfiguration(repoId, digest, architecture);
  if (!configuration) throw notFound(imageType, `${digest} for ${architecture} in the registry`);
  const config = create(ImageConfigSchema, messageOf(configuration));
  if (toBinary(ImageConfigSchema, config).length > contentLimits.responseBytes)
    throw failedPrecondition(
      "RESPONSE_TOO_LARGE",
      "the configuration has more than 3.5 MiB: read it in the registry",
      digest,
    );
  return config;
}

function messageOf({ env, entrypoint, cmd, exposedPorts, volumes, labels, ...texts }: ImageConfiguration) {
  return {
    ...texts,
    env: [...env],
    entrypoint: [...entrypoint],
    cmd: [...cmd],
    exposedPorts: Object.fromEntries(exposedPorts.map((port) => [port, {}])),
    volumes: Object.fromEntries(volumes.map((volume) => [volume, {}])),
    labels: Object.fromEntries(labels),
  };
}
