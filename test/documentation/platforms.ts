// The platforms that give workloads their tokens, under their real names: a proxy leads there. Their tokens have the claims that the real ones
// document, and each endpoint asks for what the real one asks for.
import { writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { createSecureContext, getCACertificates, setDefaultCACertificates } from "node:tls";
import { dataDirectory } from "../cli/process.ts";
import { newAuthority } from "../harness/authority.ts";
import { startProxy } from "../harness/connect-proxy.ts";
import { awsKey, callerIdentity, isSigned } from "../sts/aws-sts.ts";
import { discoveryPath, keyPair, signOutside } from "../sts/outside.ts";
import { shapes } from "../sts/workload-shapes.ts";

/** The platforms while they run. */
export interface Platforms extends AsyncDisposable {
  /** Variables with which programs reach them. */
  readonly environment: Readonly<Record<string, string>>;
  /** The settings of a server that reaches them and signs in to a registry. */
  readonly settings: Readonly<Record<string, string>>;
  /** Returns a token of a kind of workload for an audience. */
  issue(kind: string, audience: string, changes?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** The host of the runner's endpoint for tokens of jobs of GitHub, and what it asks for. */
export const gitHubRunner = {
  host: "pipelines.actions.githubusercontent.com",
  token: "only for this job",
};

/** The machine at AWS: its session, and its role as GetCallerIdentity says it. */
export const awsMachine = {
  session: "only for this machine",
  role: {
    account: "123456789012",
    arn: "arn:aws:sts::123456789012:assumed-role/deployer/i-0123456789abcdef0",
    userId: "AROAEXAMPLEID:i-0123456789abcdef0",
  },
};

const awsCredentials = "169.254.169.254/latest/meta-data/iam/security-credentials/";

const lifeSeconds = 300;

async function issue(kind: string, audience: string, changes = {}): Promise<string> {
  const shape = shapes.find(({ name }) => name === kind);
  if (!shape) throw new Error(`there is no kind of workload ${kind}`);
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...shape.claims, aud: audience, iat: now, nbf: now, exp: now + lifeSeconds, ...changes };
  return await signOutside(keyPair(shape.alg), claims);
}

/** A request to a platform. */
interface Asked {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
  /** Whether the known key of AWS has signed it. */
  readonly isSigned: boolean;
}

/** The response: a text, a document, or undefined if the request lacks what the platform asks for. */
type Endpoint = (asked: Asked) => object | string | undefined | Promise<object | string | undefined>;

/** The endpoints, by host and path. */
const endpoints: Readonly<Record<string, Endpoint>> = {
  [`${gitHubRunner.host}/idtoken`]: async ({ query, headers }) => {
    if (headers.authorization !== `Bearer ${gitHubRunner.token}` || !query.has("api-version")) return undefined;
    const value = await issue("GitHub Actions", query.get("audience") ?? "https://github.com/acme");
    return { count: value.length, value };
  },
  "agent.buildkite.com/v3/oidc/tokens": ({ method, query }) => {
    const ids = {
      organization_id: "0184990a-477b-4fa8-9968-000000000012",
      pipeline_id: "0184990a-477b-4fa8-9968-000000000074",
    };
    const asked = Object.fromEntries(Object.entries(ids).filter(([name]) => query.getAll("claim").includes(name)));
    if (method === "POST") return issue("Buildkite", query.get("audience") ?? "https://buildkite.com/acme", asked);
  },
  "metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity": ({ query, headers }) => {
    const audience = query.get("audience");
    if (headers["metadata-flavor"] !== "Google" || !audience) return undefined;
    return issue(
      "a Google service account",
      audience,
      query.get("format") === "full" ? {} : { google: undefined, email: undefined },
    );
  },
  "169.254.169.254/metadata/identity/oauth2/token": async ({ query, headers }) => {
    const resource = query.get("resource");
    if (headers.metadata !== "true" || !query.has("api-version") || !resource) return undefined;
    const token = await issue("Azure, version 1", resource);
    return { access_token: token, client_id: "0a1b", expires_in: String(lifeSeconds), resource, token_type: "Bearer" };
  },
  "169.254.169.254/latest/api/token": ({ method, headers }) =>
    method === "PUT" && headers["x-aws-ec2-metadata-token-ttl-seconds"] ? awsMachine.session : undefined,
  [awsCredentials]: ({ headers }) =>
    headers["x-aws-ec2-metadata-token"] === awsMachine.session ? "deployer" : undefined,
  [`${awsCredentials}deployer`]: ({ headers }) => {
    if (headers["x-aws-ec2-metadata-token"] !== awsMachine.session) return undefined;
    const { accessKey, secretKey } = awsKey;
    const credentials = {
      Code: "Success",
      AccessKeyId: accessKey,
      SecretAccessKey: secretKey,
      Token: awsMachine.session,
    };
    return JSON.stringify(credentials, null, 2).replaceAll('":', '" :');
  },
  "sts.eu-central-1.amazonaws.com/": async ({ form, headers, isSigned }) => {
    if (!isSigned || headers["x-amz-security-token"] !== awsMachine.session || form.get("SigningAlgorithm") !== "ES384")
      return undefined;
    const token = await issue("AWS outbound federation", form.get("Audience.member.1") ?? "");
    return `<GetWebIdentityTokenResponse>\n<GetWebIdentityTokenResult>\n<WebIdentityToken>${token}</WebIdentityToken>\n`;
  },
  "sts.amazonaws.com/": ({ query, headers, isSigned }) =>
    isSigned && headers["x-amz-security-token"] === awsMachine.session && query.get("Action") === "GetCallerIdentity"
      ? callerIdentity(awsMachine.role)
      : undefined,
};

/** The hosts without TLS. */
const plainHosts = ["metadata.google.internal", "169.254.169.254"];

async function answer(request: IncomingMessage): Promise<object | string | undefined> {
  const { method = "", headers } = request;
  const { host, pathname, searchParams: query } = new URL(request.url ?? "", `https://${headers.host}`);
  const address = `${host}${pathname}`;
  const issuer = shapes.find(({ claims }) => `https://${address}` === claims.iss.replace(/\/$/, "") + discoveryPath);
  if (issuer) return { issuer: issuer.claims.iss, jwks_uri: `https://${host}/keys/${issuer.alg}` };
  const [, alg] = /^\/keys\/(\w+)$/.exec(pathname) ?? [];
  if (alg !== undefined) return { keys: [keyPair(alg).jwk] };
  const body = await text(request);
  return await endpoints[address]?.({
    method,
    query,
    headers,
    form: new URLSearchParams(body),
    isSigned: isSigned(request, body),
  });
}

const listener: RequestListener = async (request, response) => {
  const found = await answer(request);
  if (found === undefined) response.writeHead(403).end();
  else if (typeof found === "string") response.end(found);
  else response.setHeader("content-type", "application/json").end(JSON.stringify(found));
};

/** Starts the platforms. Clients in this process trust them until they end. */
export async function startPlatforms(): Promise<Platforms> {
  const running = new AsyncDisposableStack();
  const authority = newAuthority();
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, authority.cert]);
  running.defer(() => setDefaultCACertificates(trusted));
  const authorities = path.join(running.use(dataDirectory()).path, "authority.pem");
  writeFileSync(authorities, authority.cert);
  const tls = createTlsServer(
    { SNICallback: (host, done) => done(null, createSecureContext(authority.issue(host))) },
    listener,
  );
  const [tlsPort, plainPort] = [await listen(tls, running), await listen(createServer(listener), running)];
  const addresses = [
    ...shapes.map(({ claims }) => claims.iss),
    ...Object.keys(endpoints).map((one) => `https://${one}`),
  ];
  const ports = addresses.map((address) => {
    const { host } = new URL(address);
    return [host, plainHosts.includes(host) ? plainPort : tlsPort] as const;
  });
  const proxy = `http://${running.use(await startProxy(Object.fromEntries(ports))).host}`;
  return {
    environment: {
      HTTPS_PROXY: proxy,
      http_proxy: proxy,
      NO_PROXY: "127.0.0.1",
      CURL_CA_BUNDLE: authorities,
      NODE_EXTRA_CA_CERTS: authorities,
    },
    settings: { httpsProxy: proxy, registryService: "registry.example.com" },
    issue,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function listen(server: ReturnType<typeof createServer>, running: AsyncDisposableStack): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  running.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
