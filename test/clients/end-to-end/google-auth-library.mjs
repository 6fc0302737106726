// Gets a token at the standard token endpoint with Google's library for Node, and prints it.
import { createRequire } from "node:module";

const [baseUrl, identity, tokenFile, folder] = process.argv.slice(2);
const { ExternalAccountClient } = createRequire(`${folder}/`)("google-auth-library");
const client = ExternalAccountClient.fromJSON({
  type: "external_account",
  audience: baseUrl,
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: `${baseUrl}/sts/token?identity=${identity}`,
  credential_source: { file: tokenFile },
});
console.log((await client.getAccessToken()).token);
