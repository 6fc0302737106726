// The types of sessions, apart from the code that opens them: flags are declared without it.
import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Output } from "../output/output.ts";
import type { Shell } from "../shell.ts";
import type { ClientConfig } from "./config-file.ts";
import type { Credential, Target } from "./credential.ts";

/** The flags of every client command. */
export interface ClientOptions {
  readonly context?: string;
  readonly url?: string;
  /** The first one is the session's audience. */
  readonly audience?: string | readonly string[];
  readonly issuer?: string;
  readonly output?: string;
  readonly headers?: boolean;
  readonly query?: string;
  readonly sort?: string;
  readonly limit?: number;
}

/** The session of a client command. Disposing of it closes the connection. */
export interface Session extends Disposable, Target {
  readonly shell: Shell;
  readonly config: ClientConfig;
  readonly output: Output;
  /** Returns the token for the API, or fails with a hint. */
  credential(): Promise<Credential>;
  /** Returns another token for the API after the server rejected one; undefined if there is none. */
  renewed(rejected: string): Promise<Credential | undefined>;
  /** Returns the token that the same server issued for another audience, or fails with a hint. */
  credentialFor(audience: string): Promise<Credential>;
  /** Returns a typed client of a service. Failed calls reject with CommandFailures with hints. */
  client<S extends DescService>(service: S): Promise<Client<S>>;
  /** Calls a method with the JSON of its request, and returns the JSON of its response. */
  call(method: DescMethod, request: JsonObject): Promise<JsonObject>;
}
