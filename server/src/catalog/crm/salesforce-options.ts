import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery } from '../provider/options.ts'
import { salesforce } from '../providers/salesforce/provider.ts'
import { SALESFORCE_API } from './salesforce.ts'
import { isName } from './soql.ts'

const Objects = z.object({
  sobjects: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      queryable: z.boolean().default(true),
      deprecatedAndHidden: z.boolean().default(false),
      custom: z.boolean().default(false),
    }),
  ),
})

const Description = z.object({
  fields: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      type: z.string(),
      createable: z.boolean().default(false),
      updateable: z.boolean().default(false),
      nillable: z.boolean().default(true),
      defaultedOnCreate: z.boolean().default(false),
      externalId: z.boolean().default(false),
      idLookup: z.boolean().default(false),
    }),
  ),
})
type FieldOfObject = z.infer<typeof Description>['fields'][number]

const objects: OptionQuery = {
  provider: salesforce,
  async list(send) {
    const reply = await send({ path: `${SALESFORCE_API}/sobjects` }, Objects)
    return mapReply(reply, ({ sobjects }) =>
      byLabel(
        sobjects
          .filter(({ queryable, deprecatedAndHidden }) => queryable && !deprecatedAndHidden)
          .map(({ name, label, custom }) => ({ value: name, label, extras: { custom } })),
      ),
    )
  },
}

function fieldsWhere(isOffered: (one: FieldOfObject) => boolean): OptionQuery {
  return {
    provider: salesforce,
    parent: { field: 'salesforce_object', fits: isName },
    async list(send, object) {
      const reply = await send({ path: `${SALESFORCE_API}/sobjects/${object}/describe` }, Description)
      return mapReply(reply, ({ fields }) => byLabel(fields.filter(isOffered).map(toOption)))
    },
  }
}

function toOption(given: FieldOfObject): Option {
  const { name, label, type, createable, nillable, defaultedOnCreate, externalId } = given
  const required = createable && !nillable && !defaultedOnCreate
  return { value: name, label, extras: { type, required, external_id: externalId } }
}

export const SALESFORCE_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'Salesforce objects': objects,
  'Salesforce fields': fieldsWhere(() => true),
  'writable Salesforce fields': fieldsWhere(({ createable, updateable }) => createable || updateable),
  'Salesforce external id fields': fieldsWhere(({ externalId, idLookup }) => externalId || idLookup),
}
