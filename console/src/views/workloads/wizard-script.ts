// The shell script that the wizard gives to copy. It gets an API token with `curl` and `sed` alone, in the configuration of the workload.
import type { KindId, Values } from "./wizard-kinds.ts";

/** The tasks that a workload is let in for, with the least built-in role that does it. For others the user chooses a role. */
export const tasks = [
  { id: "pull", role: "registry.pull", isOfRegistry: true },
  { id: "push", role: "registry.push", isOfRegistry: true },
  { id: "read", role: "viewer", isOfRegistry: false },
  { id: "other", role: undefined, isOfRegistry: false },
] as const;

/** A task. */
export type Task = (typeof tasks)[number];

/** The values in the script. */
export interface ScriptValues {
  /** The uid of the identity. */
  readonly uid: string;
  /** The address of the server. */
  readonly url: string;
  /** The values of the fields of the kind. */
  readonly values: Values;
  readonly task: Task;
  /** The host of the registry; empty if it is not known. */
  readonly host: string;
}

interface Commands {
  /** Returns the lines of shell that put the workload's own token into `id_token`. */
  readonly idToken: (about: ScriptValues) => readonly string[];
  /** Returns the configuration that has the workload run the script. Without it the script itself is what is copied. */
  readonly file?: (script: readonly string[], about: ScriptValues) => readonly string[];
}

/** Returns the configuration to copy, or the script if there is none. */
export function guideOf(kind: KindId, about: ScriptValues): string {
  const { idToken, file } = commands[kind];
  const script = [...idToken(about), ...exchangeOf(about)];
  return (file?.(script, about) ?? script).join("\n");
}

/** Returns the lines that exchange `id_token` for `token`, and call the API with it. */
function exchangeOf({ uid, url, task, host }: ScriptValues): readonly string[] {
  const audiences = [url, ...(task.isOfRegistry && host !== "" ? [host] : [])].map((one) => `aud=${one}`).join("&");
  const list = task.isOfRegistry ? "registry/v2beta1/repos" : "iam/v2beta1/groups";
  return [
    'response=$(curl -sS --fail-with-body -H "Authorization: Bearer $id_token" \\',
    `  "${url}/sts/exchange?${audiences}&identity=${uid}") || { echo "$response"; exit 1; }`,
    `token=$(echo "$response" | ${jsonText("token")})`,
    `curl -sS --fail-with-body -H "Authorization: Bearer $token" "${url}/${list}"`,
  ];
}

/** Returns the line that signs in to the registry after the script. */
export function registryLine(host: string): string {
  return `echo "$token" | docker login ${host} --username _token --password-stdin`;
}

/** Returns the filter that prints a text of a JSON object on one line. */
function jsonText(name: string): string {
  return `sed 's/.*"${name}": *"\\([^"]*\\)".*/\\1/'`;
}

/** Returns lines indented by so many spaces. */
function indented(spaces: number, lines: readonly string[]): string[] {
  return lines.map((line) => `${" ".repeat(spaces)}${line}`);
}

/** The commands of each kind. */
const commands: Readonly<Record<KindId, Commands>> = {
  github: {
    idToken: ({ url }) => [
      'id_token=$(curl -sS -f -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\',
      `  "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${url}" | ${jsonText("value")})`,
    ],
    file: (script, { values }) => [
      "permissions:",
      "  id-token: write",
      "jobs:",
      "  deploy:",
      "    runs-on: ubuntu-latest",
      ...(values.environment ? [`    environment: ${values.environment}`] : []),
      "    steps:",
      "      - run: |",
      ...indented(10, script),
    ],
  },
  gitlab: {
    idToken: () => ["id_token=$GATEHOUSE_ID_TOKEN"],
    file: (script, { url, values }) => [
      "deploy:",
      ...(values.environment ? [`  environment: ${values.environment}`] : []),
      "  id_tokens:",
      "    GATEHOUSE_ID_TOKEN:",
      `      aud: ${url}`,
      "  script:",
      "    - |",
      ...indented(6, script),
    ],
  },
  kubernetes: {
    idToken: () => ["id_token=$(cat /var/run/gatehouse/id-token)"],
    file: (script, { url, values }) => [
      "# In the specification of the pod. The image needs sh, sed and curl.",
      `serviceAccountName: ${values.account}`,
      "containers:",
      "  - name: app",
      "    command: [sh, -c]",
      "    args:",
      "      - |",
      ...indented(8, script),
      "    volumeMounts:",
      "      - {name: gatehouse, mountPath: /var/run/gatehouse}",
      "volumes:",
      "  - name: gatehouse",
      "    projected:",
      "      sources:",
      `        - serviceAccountToken: {path: id-token, audience: "${url}", expirationSeconds: 3600}`,
    ],
  },
  aws: {
    idToken: ({ uid, url }) => [
      "# A request that is signed with the credentials of the role takes the place of a token. This needs boto3.",
      "id_token=$(python3 - <<'SCRIPT'",
      "import base64, boto3",
      "from botocore.auth import SigV4Auth",
      "from botocore.awsrequest import AWSRequest",
      'target = "/?Action=GetCallerIdentity&Version=2011-06-15"',
      "headers = {",
      '    "Host": "sts.amazonaws.com",',
      '    "Accept": "application/json",',
      `    "Chainguard-Audience": "${url}",`,
      `    "Chainguard-Identity": "${uid}",`,
      "}",
      'request = AWSRequest("POST", "https://sts.amazonaws.com" + target, headers=headers)',
      'SigV4Auth(boto3.Session().get_credentials(), "sts", "us-east-1").add_auth(request)',
      'lines = [f"POST {target} HTTP/1.1"] + [f"{name}: {value}" for name, value in request.headers.items()]',
      'text = "\\r\\n".join(lines + ["", ""])',
      "print(base64.urlsafe_b64encode(text.encode()).decode())",
      "SCRIPT",
      ")",
    ],
  },
  google: {
    idToken: ({ url }) => [
      'id_token=$(curl -sS -f -H "Metadata-Flavor: Google" \\',
      `  "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?audience=${url}")`,
    ],
  },
  azure: {
    idToken: ({ values: { audience = "" } }) => [
      "id_token=$(curl -sS -f -H Metadata:true \\",
      `  "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${encodeURIComponent(audience)}" | ${jsonText("access_token")})`,
    ],
  },
  buildkite: {
    idToken: ({ url }) => [`id_token=$(buildkite-agent oidc request-token --audience ${url})`],
    file: (script) => [
      "steps:",
      "  - command: |",
      // Buildkite replaces variables before the shell does.
      ...indented(
        6,
        script.map((line) => line.replaceAll("$", "$$$$")),
      ),
    ],
  },
  oidc: {
    idToken: ({ url, values: { audience } }) => [
      `# A token of the workload's issuer for the audience ${audience || url}`,
      "id_token=$(cat id-token)",
    ],
  },
  key: {
    idToken: ({ url, values: { issuer, subject } }) => [
      "# A JSON Web Token that is signed with the key that you have downloaded:",
      `# ${JSON.stringify({ iss: issuer, sub: subject, aud: url })} and iat, exp`,
      "id_token=$(cat token.jwt)",
    ],
  },
};
