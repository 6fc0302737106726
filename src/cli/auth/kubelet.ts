// The credential provider of the kubelet (KEP-4412): pulls with the token of the pod's service account. As a script for nodes, which need
// no Node, and as a command.
import { chmodSync, writeFileSync } from "node:fs";
import { isJsonObject } from "../../base/json.ts";
import { isUid } from "../../model/uid.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { note, type Shell } from "../shell.ts";

/** The flags of the command. */
export interface KubeletFlags {
  readonly writeScript?: string;
  readonly registry?: string;
  readonly user?: string;
}

const apiVersion = "credentialprovider.kubelet.k8s.io/v1";

/** The annotation of a service account that names its identity. */
const annotation = "gatehouse.dev/identity";

/** Writes the script, or answers one request of the kubelet on standard input. */
export async function provideKubeletCredentials(shell: Shell, flags: KubeletFlags): Promise<void> {
  if (flags.writeScript !== undefined) {
    writeFileSync(flags.writeScript, script);
    chmodSync(flags.writeScript, 0o755);
    note(shell, "Written. It needs /bin/sh and sed, and no network.");
    return;
  }
  const { registry, user = "" } = flags;
  if (registry === undefined) throw wrongUsage("--registry is required");
  let input = "";
  for await (const chunk of shell.stdin) input += chunk;
  shell.stdout.write(`${JSON.stringify(respond(input, registry, user))}\n`);
}

function respond(input: string, registry: string, user: string): object {
  const request = parse(input);
  if (request.apiVersion !== apiVersion) throw new CommandFailure(`the request is not of ${apiVersion}`);
  if (typeof request.image !== "string" || !request.image.startsWith(`${registry}/`))
    throw new CommandFailure(`the image is not of ${registry}`);
  const { serviceAccountToken: token, serviceAccountAnnotations: annotations } = request;
  const username = isJsonObject(annotations) && annotations[annotation] !== undefined ? annotations[annotation] : user;
  const response = { apiVersion, kind: "CredentialProviderResponse", cacheKeyType: "Registry", cacheDuration: "0s" };
  if (token === undefined || token === "") return { ...response, auth: {} };
  if (typeof username !== "string" || !isUid(username))
    throw new CommandFailure(`neither --user nor the annotation ${annotation} is the uid of an identity or a group`);
  if (typeof token !== "string" || !/^[\w.-]+$/.test(token)) throw new CommandFailure("the token is malformed");
  return { ...response, auth: { [registry]: { username, password: token } } };
}

function parse(input: string) {
  try {
    const request = JSON.parse(input);
    if (isJsonObject(request)) return request;
  } catch {
    // The message of a JSON error would quote the token.
  }
  throw new CommandFailure("standard input must be a CredentialProviderRequest as JSON");
}

// A text of JSON has no quotation mark that is not escaped, so these expressions cannot take a part of a text for a member. What is not
// one line of compact JSON, as the kubelet writes it, is an error.
const script = String.raw`#!/bin/sh
# Credential provider of the kubelet for a registry with Gatehouse: hands the token of the pod's service account to the registry.
# Arguments: --registry HOST, and --user UID of an identity or a group. The annotation ${annotation} replaces --user.
fail() { echo "gatehouse-credential-provider: $1" >&2; exit 1; }

registry='' user=''
while [ $# -gt 0 ]; do
  case $1 in
    --registry) registry=$2 ;;
    --user) user=$2 ;;
    *) fail "unknown argument: $1" ;;
  esac
  [ $# -ge 2 ] || fail "$1 needs a value"
  shift 2
done
[ -n "$registry" ] || fail '--registry is required'

IFS= read -r request || [ -n "$request" ] || fail 'standard input is empty'
text='"([^"\\]|\\.)*"'
object="\{($text:$text(,$text:$text)*)?\}"
matching() { printf '%s\n' "$1" | LC_ALL=C sed -nE "$2"; }
[ -n "$(matching "$request" "/^\{$text:($text|$object)(,$text:($text|$object))*\}\$/p")" ] ||
  fail 'standard input must be a CredentialProviderRequest as compact JSON'

# The annotations, and the request without them.
annotations=$(matching "$request" "s/^.*[{,]\"serviceAccountAnnotations\":($object).*\$/\1/p")
request=$(matching "$request" "s/([{,]$text:)$object/\1\"\"/g;p")
# The value of a member that stands once.
member() {
  [ -z "$(matching "$1" "/[{,]\"$2\":.*[{,]\"$2\":/p")" ] || fail "$3 is given twice"
  matching "$1" "s/^.*[{,]\"$2\":\"(($4)*)\"[,}].*\$/\1/p"
}

[ "$(member "$request" apiVersion apiVersion '[a-z0-9.\/]')" = ${apiVersion} ] || fail 'the request is not of ${apiVersion}'
image=$(member "$request" image 'the image' '[^"\\]')
case $image in "$registry"/*) ;; *) fail "the image is not of $registry" ;; esac
token=$(member "$request" serviceAccountToken 'the token' '[A-Za-z0-9_.-]')
named=$(member "$annotations" '${annotation.replaceAll("/", "\\/").replaceAll(".", "\\.")}' 'the annotation' '[0-9a-f\/]')
case $annotations in *'"${annotation}":'*) user=$named ;; esac

response='{"apiVersion":"${apiVersion}","kind":"CredentialProviderResponse","cacheKeyType":"Registry","cacheDuration":"0s"'
if [ -z "$token" ]; then
  [ -z "$(matching "$request" '/[{,]"serviceAccountToken":"[^"]/p')" ] || fail 'the token is malformed'
  printf '%s,"auth":{}}\n' "$response"
  exit 0
fi
[ -n "$(matching "$user" '/^[0-9a-f]{40}(\/[0-9a-f]{16})*$/p')" ] ||
  fail 'neither --user nor the annotation ${annotation} is the uid of an identity or a group'
printf '%s,"auth":{"%s":{"username":"%s","password":"%s"}}}\n' "$response" "$registry" "$user" "$token"
`;
