// One client per transport, with the same face: what a caller may ask, and what came of it.
import { Agent } from "node:http";
import {
  create,
  type DescMethod,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { Auth } from "../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import { SubscriptionsService } from "../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { AccountAssociationsService } from "../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { ExternalGroupRoleMappingsService } from "../../gen/chainguard/platform/iam/v2beta1/external_group_role_mappings_pb.ts";
import { GroupInvitesService } from "../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { IdentityProvidersService } from "../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { RoleBindingsService } from "../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { TermsService } from "../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts";
import { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { PingService } from "../../gen/chainguard/platform/ping/v2beta1/ping_pb.ts";
import { ImagesService } from "../../gen/chainguard/platform/registry/v2beta1/images_pb.ts";
import { ReposService } from "../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { TagsService } from "../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { AdvisoriesService } from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { AccessService } from "../../gen/gatehouse/access/v1/access_pb.ts";
import { ApplyService } from "../../gen/gatehouse/apply/v1/apply_pb.ts";
import { ChangesService } from "../../gen/gatehouse/changes/v1/changes_pb.ts";
import { DeliveryService } from "../../gen/gatehouse/events/v1/delivery_pb.ts";
import { DelegationsService } from "../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { GroupTreeService } from "../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { IdentitySearchService } from "../../gen/gatehouse/iam/v1/identities_pb.ts";
import { MembershipsService } from "../../gen/gatehouse/iam/v1/memberships_pb.ts";
import { IdentityProviderTestService } from "../../gen/gatehouse/iam/v1/provider_tests_pb.ts";
import { OperateService } from "../../gen/gatehouse/operate/v1/operate_pb.ts";
import { FindingsService } from "../../gen/gatehouse/organizations/v1/findings_pb.ts";
import {
  OrganizationExportService,
  OrganizationImportService,
} from "../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { ImageStoreService } from "../../gen/gatehouse/registry/v1/image_store_pb.ts";
import { RepositoriesService } from "../../gen/gatehouse/registry/v1/repositories_pb.ts";
import { SearchService } from "../../gen/gatehouse/search/v1/search_pb.ts";
import { AdvisoryChangesService } from "../../gen/gatehouse/vulnerabilities/v1/changes_pb.ts";
import { AdvisoryFacetsService } from "../../gen/gatehouse/vulnerabilities/v1/facets_pb.ts";
import { OsvService } from "../../gen/gatehouse/vulnerabilities/v1/osv_pb.ts";
import { AdvisoryQueryService } from "../../gen/gatehouse/vulnerabilities/v1/query_pb.ts";
import { AdvisoryRecordsService } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { detailRegistry, failure, type Outcome, success } from "./outcome.ts";
import { type PathStyle, restCaller, type Witness } from "./rest-client.ts";
import { v1Services } from "./v1-services.ts";

export type { Outcome } from "./outcome.ts";

/** A way into the server. */
export interface ApiClient extends Disposable {
  readonly name: TransportName;
  /** Calls a method by its gRPC path with the JSON of its request; without a token when there is none. */
  call(token: string | undefined, methodPath: string, request: JsonObject): Promise<Outcome>;
}

/** The transports, by what opens them. */
export const transportNames = ["grpc", "grpc-web", "connect", "rest", "rest, slashes escaped"] as const;
export type TransportName = (typeof transportNames)[number];

/** The services that can be called. */
export const services = [
  DelegationsService,
  MembershipsService,
  GroupTreeService,
  IdentitySearchService,
  IdentityProviderTestService,
  FindingsService,
  SearchService,
  GroupsService,
  IdentitiesService,
  RolesService,
  RoleBindingsService,
  ReposService,
  TagsService,
  ImagesService,
  ImageStoreService,
  RepositoriesService,
  ChangesService,
  DeliveryService,
  AdvisoriesService,
  AdvisoryChangesService,
  AdvisoryRecordsService,
  AdvisoryFacetsService,
  AdvisoryQueryService,
  OsvService,
  SubscriptionsService,
  GroupInvitesService,
  AccountAssociationsService,
  Auth,
  IdentityProvidersService,
  ExternalGroupRoleMappingsService,
  TermsService,
  SecurityTokenService,
  AccessService,
  ApplyService,
  OperateService,
  OrganizationExportService,
  OrganizationImportService,
  PingService,
  ...v1Services,
] as const;

const methods = new Map(services.flatMap(({ methods }) => methods.map((method) => [pathOf(method), method] as const)));

type Caller = Disposable & {
  call(token: string | undefined, method: DescMethodUnary, request: JsonObject): Promise<Outcome>;
};

/**
 * Opens a transport of the server at `url`. With `as` another version, calls the methods of that version.
 * `witness` is told of what goes over REST with escaped slashes.
 */
export function openApiClient(
  name: TransportName,
  url: string,
  as = (method: DescMethodUnary) => method,
  witness?: Witness,
): ApiClient {
  const caller = openers[name](url, witness);
  return {
    name,
    call: (token, methodPath, request) => caller.call(token, as(findMethod(methodPath)), request),
    [Symbol.dispose]: () => caller[Symbol.dispose](),
  };
}

const openers: Readonly<Record<TransportName, (url: string, witness: Witness | undefined) => Caller>> = {
  grpc: grpcCaller,
  "grpc-web": grpcWebCaller,
  connect: connectCaller,
  rest: (url) => restCaller(url, "slashes" satisfies PathStyle),
  "rest, slashes escaped": (url, witness) => restCaller(url, "escaped" satisfies PathStyle, witness),
};

/** Returns the method with this gRPC path; throws when there is none. */
function findMethod(methodPath: string): DescMethodUnary {
  const method = methods.get(methodPath);
  if (method?.methodKind !== "unary") throw new Error(`there is no unary method ${methodPath}`);
  return method as DescMethodUnary;
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** gRPC by @grpc/grpc-js, a client that shares no code with the server. */
function grpcCaller(url: string): Caller {
  const client = new Client(new URL(url).host, credentials.createInsecure());
  return {
    call: (token, method, request) =>
      new Promise((resolve) => {
        const metadata = new Metadata();
        if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
        client.makeUnaryRequest(
          pathOf(method),
          (message: Message) => Buffer.from(toBinary(method.input, message)),
          (bytes) => fromBinary(method.output, bytes),
          fromJson(method.input, request),
          metadata,
          (error, reply) =>
            resolve(error ? grpcFailure(error) : success(method.output, reply ?? create(method.output))),
        );
      }),
    [Symbol.dispose]: () => client.close(),
  };
}

function grpcFailure(error: ServiceError): Outcome {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  if (!(bytes instanceof Buffer)) return failure(error.code, error.details, []);
  const status = fromBinary(StatusSchema, bytes);
  const details = status.details.map((any) => {
    const message = anyUnpack(any, detailRegistry);
    if (!message) throw new Error(`${any.typeUrl} is not a type of a detail`);
    return message;
  });
  // The text of the header is escaped, by rules that servers and clients read differently.
  return failure(error.code, status.message, details);
}

/** gRPC-web over HTTP/1.1, as browsers send it. */
function grpcWebCaller(url: string): Caller {
  const agent = new Agent({ keepAlive: true });
  const transport = createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", nodeOptions: { agent } });
  return transportCaller(transport, () => agent.destroy());
}

/** The Connect protocol with JSON over HTTP/2. */
function connectCaller(url: string): Caller {
  const sessionManager = new Http2SessionManager(url);
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    sessionManager,
    useBinaryFormat: false,
  });
  return transportCaller(transport, () => sessionManager.abort());
}

function transportCaller(transport: Transport, close: () => void): Caller {
  return {
    async call(token, method, request) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      try {
        const message = fromJson(method.input, request);
        const reply = await transport.unary(method, undefined, undefined, headers, message);
        return success(method.output, reply.message);
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        return failure(error.code, error.rawMessage, error.findDetails(detailRegistry));
      }
    },
    [Symbol.dispose]: close,
  };
}
