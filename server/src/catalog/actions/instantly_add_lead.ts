import { z } from 'zod'
import { defineAction } from '../define.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { instantly } from '../providers/instantly/provider.ts'
import { leadInputs, readCustomFields, readLead } from '../push/campaigns.ts'

// developer.instantly.ai/api-reference/lead (2026-11): with skip_if_in_campaign the reply for an existing lead has no
// id.
const Added = z.looseObject({ id: z.string().min(1).nullish() })
const Leads = z.object({ items: z.array(z.object({ id: z.string(), email: z.string().nullish() })) })

const CAMPAIGN_IDS = { pattern: /^[0-9a-f-]{36}$/i, described: 'the id of a campaign' }

export default defineAction({
  id: 'instantly_add_lead',
  name: 'Add Instantly lead',
  description: 'Adds a lead to an Instantly campaign, once, however often the row runs.',
  category: 'messages',
  synonyms: ['campaign', 'cold email', 'outreach', 'sequence', 'outbound'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: leadInputs(instantly, 'Instantly campaigns'),
  outputs: {
    id: output.text('The id of the lead.'),
    created: output.boolean('True if the lead was not in the campaign before.'),
  },
  async run({ inputs, context }) {
    const { connection } = inputs
    const read = readLead(inputs, CAMPAIGN_IDS)
    if (!read.ok) return read.outcome
    const { campaign, email } = read
    const json = {
      campaign,
      email,
      first_name: inputs.first_name,
      last_name: inputs.last_name,
      company_name: inputs.company_name,
      website: inputs.website,
      phone: inputs.phone,
      custom_variables: readCustomFields(inputs.custom_fields),
      skip_if_in_campaign: true,
    }
    const request = { method: 'POST', path: '/leads', json } as const
    const answer = await askProvider({ provider: instantly, connection, request, schema: Added }, context)
    if (!answer.ok) return answer.outcome
    const { id } = answer.body
    if (id !== null && id !== undefined) return done({ id, created: true }, answer.provenance)
    const search = {
      method: 'POST',
      path: '/leads/list',
      json: { search: email, campaign, limit: 10 },
    } as const
    const found = await askProvider(
      { provider: instantly, connection, request: search, schema: Leads },
      context,
    )
    if (!found.ok) return found.outcome
    const known = found.body.items.find((lead) => lead.email?.toLowerCase() === email.toLowerCase())
    return done({ id: known?.id ?? null, created: false }, [...answer.provenance, ...found.provenance])
  },
})
