// Fixed pages: probes, metrics, discovery document and key set.
import type { Logger } from "pino";
import { discoveryDocument, discoveryPath, keySetPath, metadataPath } from "../authn/discovery.ts";
import type { KeyRing } from "../authn/key-ring.ts";
import { authzenMetadata, authzenMetadataPath } from "../authzen/metadata.ts";
import type { Config } from "../config/config.ts";
import { metricsContentTypes } from "../observe/metric-family.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { RegistrySigner } from "../registry-token/signer.ts";
import { grantTypes, tokenEndpointPath } from "../token-endpoint/token-endpoint.ts";
import { isLocal, type PageReply, type Pages, publicJson, text } from "../transport/pages/pages.ts";
import { metricsFormatFor } from "./metrics/metrics-format.ts";
import { type Readiness, readinessProblem } from "./readiness.ts";

const tokenEndpoint = { path: tokenEndpointPath, grantTypes };

/** Returns the pages by path. */
export function pages(
  config: Config,
  readiness: ReadinessWithDetail,
  keys: KeyRing,
  signer: Pick<RegistrySigner, "certificate" | "jwks">,
  metrics: Metrics,
  log: Pick<Logger, "warn">,
): Pages {
  return {
    "/healthz": () => text(200, "ok"),
    "/readyz": (request) => readyPage(readiness, log, mayRead(config.metrics, request)),
    ...(config.metricsListen === undefined && metricsPage(metrics, config.metrics)),
    [discoveryPath]: () => publicJson(discoveryDocument(config.baseUrl, tokenEndpoint)),
    [metadataPath]: () => publicJson(discoveryDocument(config.baseUrl, tokenEndpoint)),
    [authzenMetadataPath]: () => publicJson(authzenMetadata(config.baseUrl)),
    [keySetPath]: () => publicJson(keys.jwks()),
    "/token/certificate.pem": async () => ({
      status: 200,
      contentType: "application/pem-certificate-chain",
      text: await signer.certificate(),
      maxAge: 300,
    }),
    "/token/jwks.json": async () => publicJson(await signer.jwks()),
  };
}

/** The readiness, with further facts for an operator. */
type ReadinessWithDetail = Readiness & {
  /** Returns a problem that does not keep the server from serving; undefined if there is none. */
  detail(): string | undefined;
};

async function readyPage(
  readiness: ReadinessWithDetail,
  log: Pick<Logger, "warn">,
  isOperator: boolean,
): Promise<PageReply> {
  if (readiness.isStopping()) return text(503, "stopping");
  try {
    await readiness.check();
    const detail = isOperator ? readiness.detail() : undefined;
    return text(200, detail === undefined ? "ready" : `ready\n${detail}`);
  } catch (error) {
    log.warn({ err: error }, "not ready");
    return text(503, readinessProblem(error));
  }
}

type Readers = Config["metrics"];

/** Whether a client may read metrics. Behind a local proxy every client looks local, so forwarded requests do not count as local. */
function mayRead(readers: Readers, request: Parameters<typeof isLocal>[0]): boolean {
  return readers === "anyone" || (readers === "loopback" && isLocal(request));
}

/** Returns the metrics page. */
export function metricsPage(metrics: Metrics, readers: Readers): Pages {
  return {
    "/metrics": async (request) => {
      if (!mayRead(readers, request)) return text(403, "Forbidden");
      const format = metricsFormatFor(request.headers.accept);
      return { status: 200, contentType: metricsContentTypes[format], text: await metrics.text(format) };
    },
  };
}
