import { z } from 'zod'
import { textOf } from '../chain/references.ts'
import { field, type Pair } from '../fields/fields.ts'
import { type Outcome, unrunnable } from '../outcome.ts'
import { byLabel, mapReply, type OptionQuery } from '../provider/options.ts'
import type { Provider } from '../provider/provider.ts'
import { instantly } from '../providers/instantly/provider.ts'
import { smartlead } from '../providers/smartlead/provider.ts'
import { readWireValues } from './values.ts'

/**
 * Returns the inputs of a lead that every campaign tool has; anything else is a custom field. `from` names the list of
 * campaigns.
 */
export const leadInputs = (provider: Provider, from: keyof typeof CAMPAIGN_OPTIONS) => ({
  campaign: field.dropdown({
    required: true,
    from,
    label: 'Campaign',
    help: 'The campaign to add the lead to.',
    details: 'Takes its id.',
  }),
  email: field.text({
    type: 'email',
    required: true,
    label: 'Email',
    help: 'The email address of the lead.',
    placeholder: 'ada@acme.com',
  }),
  first_name: field.text({ label: 'First name', help: "The lead's first name.", placeholder: 'Ada' }),
  last_name: field.text({ label: 'Last name', help: "The lead's last name.", placeholder: 'Lovelace' }),
  company_name: field.text({ label: 'Company', help: "The lead's company.", placeholder: 'Acme' }),
  website: field.text({
    type: 'url',
    label: 'Website',
    help: 'The website of the company.',
    placeholder: 'acme.com',
    advanced: true,
  }),
  phone: field.text({
    label: 'Phone',
    help: "The lead's phone number.",
    placeholder: '+4930123456',
    advanced: true,
  }),
  custom_fields: field.pairs({
    label: 'Custom fields',
    help: 'More values for the texts of the campaign.',
    details: 'Takes {name, value}.',
    advanced: true,
  }),
  connection: field.connection({ provider }),
})

/** Checks a lead for a campaign. Returns it, or what is wrong with it. `described` says what campaign ids look like. */
export function readLead(
  given: { campaign: string; email: string },
  campaignIds: { pattern: RegExp; described: string },
): { ok: true; campaign: string; email: string } | { ok: false; outcome: Outcome<never> } {
  const [campaign, email] = [given.campaign.trim(), given.email.trim()]
  if (!campaignIds.pattern.test(campaign)) {
    return { ok: false, outcome: unrunnable(`campaign must be ${campaignIds.described}`) }
  }
  if (!isEmail(email)) {
    return { ok: false, outcome: unrunnable(`email: "${email.slice(0, 100)}" is not an address`) }
  }
  return { ok: true, campaign, email }
}

/** Returns custom fields as texts, leaving out those without a value. */
export function readCustomFields(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries([...readWireValues(pairs, true)].map(([name, value]) => [name, textOf(value)]))
}

const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text)

const Campaign = z.object({
  id: z.union([z.number(), z.string()]).transform(String),
  name: z.string(),
  status: z.union([z.string(), z.number()]).nullish(),
})
type Campaign = z.infer<typeof Campaign>

const toOptions = (campaigns: readonly Campaign[]) =>
  byLabel(
    campaigns.map(({ id, name, status }) => ({ value: id, label: name, extras: { status: status ?? null } })),
  )

export const CAMPAIGN_OPTIONS = {
  'Smartlead campaigns': {
    provider: smartlead,
    list: async (send) => mapReply(await send({ path: '/campaigns' }, z.array(Campaign)), toOptions),
  },
  'Instantly campaigns': {
    provider: instantly,
    async list(send) {
      const Listed = z.object({ items: z.array(Campaign) })
      const reply = await send({ path: '/campaigns', query: { limit: 100 } }, Listed)
      return mapReply(reply, ({ items }) => toOptions(items))
    },
  },
} satisfies Record<string, OptionQuery>
