// Derives the methods and fields of a kind of resource from the protos.
import { type DescMessage, type DescMethodUnary, type DescService, getOption } from "@bufbuild/protobuf";
import type { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { ResourceSpecSchema, type SpecKind, SpecKindSchema } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { resource as resourceOption } from "../../../gen/google/api/resource_pb.ts";
import { accessRuleOf } from "../../authz/rules.ts";

/** The methods and fields of a kind, as derived from its protos. */
export interface Derived {
  readonly methods: {
    readonly create: DescMethodUnary;
    readonly update: DescMethodUnary | undefined;
    readonly delete: DescMethodUnary;
  };
  /** The field of a request with the resource, such as `roleBinding`. */
  readonly requestField: string;
  /** The capability that the list of the kind requires. */
  readonly listCapability: Capability;
  /** The number of the kind in requests. */
  readonly number: SpecKind;
  /** The field of ResourceSpec, such as `role_binding`, and its message. */
  readonly field: string;
  readonly specSchema: DescMessage;
}

/** Derives it. Throws if a standard method, its access rule or the number of the kind is missing. */
export function derive({
  name,
  schema,
  service,
}: {
  readonly name: string;
  readonly schema: DescMessage;
  readonly service: DescService;
}): Derived {
  const { singular, plural } = getOption(schema, resourceOption);
  const find = (verb: string, noun: string) =>
    service.method[`${verb}${noun.charAt(0).toUpperCase()}${noun.slice(1)}`] as DescMethodUnary | undefined;
  const required = (verb: string, noun = singular) =>
    found(find(verb, noun), `${service.typeName} has no method that ${verb}s ${noun}`);
  const spec = ResourceSpecSchema.fields.find(({ localName }) => localName === name);
  const rule = accessRuleOf(required("list", plural));
  const [listCapability] = rule && rule.type !== "open" ? rule.capabilities : [];
  const number = SpecKindSchema.values.find((value) => value.name === `SPEC_KIND_${spec?.name.toUpperCase()}`)?.number;
  return {
    methods: { create: required("create"), update: find("update", singular), delete: required("delete") },
    requestField: singular,
    listCapability: found(listCapability as Capability | undefined, `the list of ${plural} requires no capability`),
    number: found(number as SpecKind | undefined, `SpecKind has no value for ${name}`),
    field: found(spec, `ResourceSpec has no field ${name}`).name,
    specSchema: found(spec?.message, `the field ${name} of ResourceSpec has no message`),
  };
}

function found<T>(value: T | undefined, problem: string): T {
  if (value === undefined) throw new Error(problem);
  return value;
}
