import {
  GetArchitecturesRequestSchema,
  GetSizeRequestSchema,
  ImagesService,
} from "../../../gen/chainguard/platform/registry/v2beta1/images_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findManifests } from "../../storage/registry/manifests.ts";
import { digestRule } from "./repos/text-rules.ts";

const imageType = "registry.chainguard.dev/Image";

/** The architecture of a request that names none. */
const defaultArchitecture = "amd64";

/** Serves architectures and sizes of images. */
export function images({ database }: ServiceContext): Implementation {
  async function find(repoUid: string, digest: string) {
    const manifests = await findManifests(database.session, repoUid, digest);
    if (manifests.length === 0) throw notFound(imageType, `${digest} in ${repoUid}`);
    return manifests;
  }

  return implement(
    ImagesService,
    {
      async getArchitectures({ repoUid, digest }) {
        return { architectures: (await find(repoUid, digest)).map(({ architecture }) => architecture) };
      },
      async getSize({ repoUid, digest, architecture }) {
        const wanted = architecture || defaultArchitecture;
        const manifest = (await find(repoUid, digest)).find((candidate) => candidate.architecture === wanted);
        if (!manifest) throw notFound(imageType, `${digest} for ${wanted} in ${repoUid}`);
        return { size: BigInt(manifest.size), architecture: wanted };
      },
    },
    [GetArchitecturesRequestSchema, GetSizeRequestSchema].map((schema) => ({ schema, fields: { digest: digestRule } })),
  );
}
