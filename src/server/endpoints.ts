// Endpoints of other protocols: registry tokens, registry notifications, exports and archives of advisories, AuthZEN.
import type { Logger } from "pino";
import type { AccessLog } from "../access-log/access-log.ts";
import { feedEndpoints } from "../advisory-feeds/feed-endpoint.ts";
import { exportsPath, formatFeeds } from "../advisory-feeds/format-feed.ts";
import { isOsvArchive, osvGroupsPath, parseOsvArchive } from "../advisory-feeds/osv-archives.ts";
import { vexFeeds, vexGroupsPath } from "../advisory-feeds/vex-repository.ts";
import { withBearer } from "../authn/basic.ts";
import type { KeyRing } from "../authn/key-ring.ts";
import { newTokens } from "../authn/tokens.ts";
import { authzenEndpoints } from "../authzen/endpoints.ts";
import type { Config } from "../config/config.ts";
import type { LiveSecrets } from "../config/live-secrets.ts";
import type { AuthenticateDeps } from "../pipeline/authenticate.ts";
import type { MethodTable } from "../pipeline/method.ts";
import { notificationEndpoint } from "../registry-notifications/notification-endpoint.ts";
import { ownNameOf, upstreamContent } from "../registry-notifications/registry-client.ts";
import type { UseTally } from "../registry-notifications/use-tally.ts";
import type { RegistrySigner } from "../registry-token/signer.ts";
import { tokenEndpoint } from "../registry-token/token-endpoint.ts";
import type { ScimOptions } from "../scim/endpoint.ts";
import { scimLimits } from "../scim/limits.ts";
import { refuseScim, scimType } from "../scim/scim-error.ts";
import { requireToken, scimPath } from "../scim/token.ts";
import type { Database } from "../storage/database.ts";
import type { NameRules } from "../storage/registry/repository-name.ts";
import type { AssumptionDeps } from "../sts/assumable-identity.ts";
import { registryAudiences } from "../sts/audiences.ts";
import { tokenEndpointPath } from "../token-endpoint/token-endpoint.ts";
import type { Endpoint, Endpoints } from "../transport/pages/endpoints.ts";
import { limits } from "./limits.ts";
import { tokenRecorder } from "./seen-tokens.ts";

/** Dependencies of the endpoints. */
export interface EndpointDeps
  extends Pick<AssumptionDeps, "directory" | "issuers" | "defaultAudiences" | "clock">,
    AuthenticateDeps {
  readonly config: Config;
  readonly secrets: LiveSecrets;
  readonly database: Database;
  readonly keys: KeyRing;
  readonly signer: RegistrySigner;
  readonly methods: MethodTable;
  readonly pageTokenKey: Uint8Array;
  readonly standardTokenEndpoint: Endpoint;
  readonly accessLog: Pick<AccessLog, "recordToken">;
  /** Counts uses of images; undefined if none are recorded. */
  readonly imageUses: UseTally | undefined;
  readonly log: Logger;
}

/** Returns the endpoints by path. */
export function endpoints(deps: EndpointDeps): Endpoints {
  const { service, group, notificationSecret } = deps.config.registry;
  const issuer = deps.config.baseUrl;
  // RFC 7519 §4.1.3: signing in to the registry takes a token for the registry, not one for the API only.
  const tokens = newTokens({ issuer, audiences: [service], keys: deps.keys, clock: deps.clock });
  const names = { registryGroup: group, maxDepth: limits.groupDepth };
  const log = (event: object) => deps.log.info(event, "registry token");
  return {
    ...feeds(deps),
    ...authzenEndpoints(deps),
    [scimPath]: scimEndpoint({ ...deps, baseUrl: issuer }),
    "/token": tokenEndpoint({
      ...deps,
      ...registryAudiences(deps.config.registry, deps.defaultAudiences),
      recordToken: tokenRecorder(deps, true),
      issuer,
      tokens,
      service,
      names,
      log,
    }),
    [tokenEndpointPath]: deps.standardTokenEndpoint,
    // Without a secret, senders cannot be authenticated.
    ...(notificationSecret !== "" && { "/registry/notifications": notifications(deps, names) }),
  };
}

/** Returns the endpoints of exports and archives. Scanners read archives with Basic credentials, as they use the API of OSV.dev. */
function feeds(deps: EndpointDeps): Endpoints {
  const endpointOf = feedEndpoints({
    ...deps,
    limits,
    errorDomain: `vulnerabilities.${deps.config.domain}`,
    log: (event) => deps.log.info(event, "an export left something out"),
  });
  return {
    [exportsPath]: endpointOf(formatFeeds(limits)),
    [vexGroupsPath]: { ...endpointOf(vexFeeds(deps.config.baseUrl, limits)), authorization: withBearer },
    [osvGroupsPath]: { ...endpointOf(parseOsvArchive), serves: isOsvArchive, authorization: withBearer },
  };
}

/** Returns the endpoint of SCIM, whose code the first request with a token loads. */
function scimEndpoint(deps: ScimOptions): Endpoint {
  return {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    maxBodyBytes: scimLimits.bodyBytes,
    // RFC 7644 §3.1.
    bodyTypes: [scimType, "application/json"],
    admit: requireToken,
    handle: async (request) => (await import("../scim/endpoint.ts")).handleScim(deps, request),
    refuse: refuseScim,
  };
}

function notifications({ config, secrets, signer, log, ...deps }: EndpointDeps, names: NameRules): Endpoint {
  const { url } = config.registry;
  const credentials = secrets.registryCredentials;
  return notificationEndpoint({
    ...deps,
    names: { ...names, readsContents: config.registry.readsContents },
    service: config.registry.service,
    secret: secrets.registryNotificationSecret,
    uses: deps.imageUses,
    ownName: () => ownNameOf(credentials()),
    content: url === "" ? undefined : upstreamContent({ url, credentials, signer, proxies: config.proxies }),
    maxBodyBytes: limits.bodyBytes,
    log,
  });
}
