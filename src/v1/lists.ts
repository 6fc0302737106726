// Lists of version 1: everything at once, under `items`. One by id is a list of one, or of nothing.
import type { DescField, DescMessage, Message, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { resourceExhausted } from "../aip/errors.ts";
import { maximumPageSize } from "../aip/pagination.ts";
import { limits } from "../config.ts";
import { type Adapted, adapt, reversed } from "./adapter.ts";
import { correspond, fieldsOf, type Names } from "./fields.ts";
import type { Today, Unary } from "./today.ts";
import { renamer } from "./violations.ts";

/** How a list differs from its counterpart, beyond what fields are called. */
export interface ListDifferences<I1 extends DescMessage, I2 extends DescMessage> {
  readonly names?: Names;
  /** What else the request of today holds; undefined when nothing can fit. */
  readonly request?: (filter: MessageShape<I1>) => Partial<MessageInitShape<I2>> | undefined;
  /** Makes an item, which is otherwise made field by field. */
  // biome-ignore lint/suspicious/noExplicitAny: only the descriptor of the reply knows which message it is.
  readonly item?: (item: any) => object;
}

/** The parts of a reply with pages that every one has. */
interface Page {
  readonly nextPageToken: string;
  readonly totalCount?: bigint;
}

/** A list whose counterpart has pages: all of them, up to a limit, since a reply is one message. */
export function list<I1 extends DescMessage, O1 extends DescMessage, I2 extends DescMessage, O2 extends DescMessage>(
  today: Today,
  v1: Unary<I1, O1>,
  now: Unary<I2, O2>,
  { names = {}, request: more = () => ({}), item }: ListDifferences<I1, I2> = {},
): Adapted<I1, O1> {
  const hasId = v1.input.fields.some(({ name }) => name === "id");
  const filters = correspond(v1.input, now.input, hasId ? { ...names, id: "" } : names);
  const [items, resources] = [repeatedField(v1.output), repeatedField(now.output)];
  const fields = item ? undefined : correspond(items.message, resources.message, names);
  const toItem = item ?? ((message: Message) => fields!.toV1(message));

  /** What today's list is asked; undefined when nothing can fit. */
  function request(filter: MessageShape<I1>): MessageInitShape<I2> | undefined {
    const added = more(filter);
    const asked = { ...fieldsOf(filters.toNow(filter)), ...added };
    return added && ((hasId ? withId(asked as PlaceFiltered, filter) : asked) as MessageInitShape<I2> | undefined);
  }

  return adapt<I1, O1, I2, O2>(today, now, {
    request: (filter) => request(filter) ?? ({} as MessageInitShape<I2>),
    rename(violation, filter) {
      const isId = violation.field === "uidp.ids[0]" && (filter as { id?: string }).id;
      return renamer([...reversed(names), ...filters.renamed])(isId ? { ...violation, field: "id" } : violation);
    },
    async answer(ask, filter) {
      const asked = request(filter);
      const found: object[] = [];
      for (let pageToken: string | undefined = asked && ""; pageToken !== undefined; ) {
        const reply = await ask({ ...asked, pageSize: maximumPageSize, pageToken } as never);
        const { nextPageToken, totalCount = 0n } = reply as unknown as Page;
        if (totalCount > limits.v1ListItems) throw tooMany(now);
        const page = (reply as unknown as Record<string, Message[]>)[resources.localName] ?? [];
        found.push(...page.map((message) => toItem(message)));
        pageToken = nextPageToken || undefined;
      }
      return { [items.localName]: found } as MessageInitShape<O1>;
    },
  });
}

/** The one repeated field of a reply. */
function repeatedField(reply: DescMessage): DescField & { message: DescMessage } {
  const [field, ...others] = reply.fields.filter(({ fieldKind }) => fieldKind === "list");
  if (!field?.message || others.length > 0) throw new Error(`${reply.typeName} is no list of messages`);
  return field as DescField & { message: DescMessage };
}

type PlaceFiltered = { readonly uidp?: Message & { readonly ids?: readonly string[] } };

/** The filter with the id among its ids, which both must fit; undefined when they cannot. */
function withId(asked: PlaceFiltered, filter: Message & { id?: string }): object | undefined {
  const { id = "" } = filter;
  if (id === "") return asked;
  const ids = asked.uidp?.ids ?? [];
  return ids.length === 0 || ids.includes(id)
    ? { ...asked, uidp: { ...(asked.uidp && fieldsOf(asked.uidp)), ids: [id] } }
    : undefined;
}

function tooMany(now: Unary) {
  const more = `more than ${limits.v1ListItems} items`;
  return resourceExhausted(`the list has ${more}, too many for one reply; narrow it, or page through ${now.name}`);
}
