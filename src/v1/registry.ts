import {
  CreateDeploymentRequestSchema,
  GetDeploymentRequestSchema,
  Registry,
  UpdateDeploymentRequestSchema,
} from "../../gen/chainguard/platform/registry/v1/registry_pb.ts";
import { notFound, unimplemented } from "../aip/errors.ts";
import { type MessageRules, uidRule } from "../pipeline/text-rules.ts";
import { serve, type V1Implementation, type V1Methods } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { imageMethods, imageRules, type V1Context } from "./images.ts";
import { repoMethods } from "./repos.ts";
import { tagMethods } from "./tags.ts";

/** Serves the registry, which is a single service in version 1. */
export function registry(api: CurrentApi, context: V1Context): V1Implementation {
  const methods: V1Methods<typeof Registry> = {
    ...repoMethods(api, context),
    ...tagMethods(api, context),
    ...imageMethods(context),
    // Clients continue without it.
    getPackageVersionMetadata({ package: name }) {
      throw notFound("registry.chainguard.dev/Package", name);
    },
    createDeployment: noDeployments,
    updateDeployment: noDeployments,
    getDeployment: noDeployments,
  };
  return serve(Registry, methods, [...uidRules, ...imageRules]);
}

/** Rules of methods without a counterpart. */
const uidRules: readonly MessageRules[] = [
  { schema: CreateDeploymentRequestSchema, fields: { parent_id: uidRule } },
  { schema: UpdateDeploymentRequestSchema, fields: { repo_id: uidRule } },
  { schema: GetDeploymentRequestSchema, fields: { repo_id: uidRule } },
];

function noDeployments(): never {
  throw unimplemented("this server does not store deployments of images");
}
