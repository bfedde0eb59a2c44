import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery } from '../provider/options.ts'
import { hubspot } from '../providers/hubspot/provider.ts'
import { identityProperties, OBJECT_TYPES } from './hubspot-objects.ts'
import { isObjectType, OWN_ID } from './hubspot.ts'

const Schemas = z.object({
  results: z.array(
    z.object({
      objectTypeId: z.string(),
      name: z.string(),
      labels: z.object({ plural: z.string().optional() }).default({}),
    }),
  ),
})

const Properties = z.object({
  results: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      type: z.string(),
      hidden: z.boolean().default(false),
      calculated: z.boolean().default(false),
      hasUniqueValue: z.boolean().default(false),
      modificationMetadata: z.object({ readOnlyValue: z.boolean().default(false) }).optional(),
    }),
  ),
})
type Property = z.infer<typeof Properties>['results'][number]

const STANDARD = Object.entries(OBJECT_TYPES).map(([value, { label }]): Option => ({
  value,
  label,
  extras: { custom: false },
}))

const objectTypes: OptionQuery = {
  provider: hubspot,
  async list(send) {
    const reply = await send({ path: '/crm/v3/schemas' }, Schemas)
    // Few accounts have custom objects, and other accounts may not list them.
    if (!reply.ok && reply.refusal.kind === 'ineligible') return { ok: true, body: STANDARD }
    return mapReply(reply, ({ results }) => [
      ...STANDARD,
      ...byLabel(
        results.map(({ objectTypeId, name, labels }) => ({
          value: objectTypeId,
          label: labels.plural ?? name,
          extras: { custom: true },
        })),
      ),
    ])
  },
}

function propertiesWhere(isOffered: (one: Property, object: string) => boolean): OptionQuery {
  return {
    provider: hubspot,
    parent: { field: 'object_type', fits: isObjectType },
    async list(send, object) {
      const reply = await send({ path: `/crm/v3/properties/${object}` }, Properties)
      return mapReply(reply, ({ results }) =>
        byLabel(
          results
            .filter((one) => isOffered(one, object))
            .map(({ name, label, type, hasUniqueValue }) => ({
              value: name,
              label,
              extras: { type, unique: hasUniqueValue },
            })),
        ),
      )
    },
  }
}

export const HUBSPOT_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'HubSpot object types': objectTypes,
  'HubSpot properties': propertiesWhere(({ hidden }) => !hidden),
  'writable HubSpot properties': propertiesWhere(
    ({ hidden, calculated, modificationMetadata }) =>
      !hidden && !calculated && modificationMetadata?.readOnlyValue !== true,
  ),
  'HubSpot id properties': propertiesWhere(
    ({ name, hasUniqueValue }, object) =>
      hasUniqueValue || name === OWN_ID || identityProperties(object).includes(name),
  ),
}
