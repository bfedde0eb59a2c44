import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import type { ProviderReply } from '../provider/reply.ts'
import { attio } from '../providers/attio/provider.ts'

/** Returns true for a valid slug. Slugs are put into addresses unchanged. */
export const isAttioSlug = (text: string): boolean => /^[a-z0-9][a-z0-9_-]{0,99}$/.test(text)

// docs.attio.com/rest-api/endpoint-reference: objects and attributes are listed by their slugs (2026-11).
const Named = z.object({
  data: z.array(
    z.object({
      api_slug: z.string().nullable(),
      title: z.string().optional(),
      plural_noun: z.string().nullish(),
      type: z.string().optional(),
      is_unique: z.boolean().default(false),
      is_writable: z.boolean().default(true),
      is_archived: z.boolean().default(false),
    }),
  ),
})
type Item = z.infer<typeof Named>['data'][number]

function toOptions(items: readonly Item[]): Option[] {
  return byLabel(
    items.flatMap(({ api_slug, title, plural_noun, type, is_archived }) =>
      api_slug === null || is_archived
        ? []
        : [
            {
              value: api_slug,
              label: title ?? plural_noun ?? api_slug,
              ...(type === undefined ? {} : { extras: { type } }),
            },
          ],
    ),
  )
}

export async function listAttioObjects(send: SendRequest): Promise<ProviderReply<Option[]>> {
  return mapReply(await send({ path: '/v2/objects' }, Named), ({ data }) => toOptions(data))
}

export async function listAttioAttributes(
  send: SendRequest,
  object: string,
  isOffered: (one: Item) => boolean = () => true,
): Promise<ProviderReply<Option[]>> {
  const reply = await send({ path: `/v2/objects/${object}/attributes` }, Named)
  return mapReply(reply, ({ data }) => toOptions(data.filter(isOffered)))
}

const parent = { field: 'object', fits: isAttioSlug }

export const ATTIO_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'Attio objects': { provider: attio, list: listAttioObjects },
  'writable Attio attributes': {
    provider: attio,
    parent,
    list: (send, object) => listAttioAttributes(send, object, ({ is_writable }) => is_writable),
  },
  'unique Attio attributes': {
    provider: attio,
    parent,
    list: (send, object) => listAttioAttributes(send, object, ({ is_unique }) => is_unique),
  },
}
